import Foundation

/// Gives one user at a time access to a shared resource: in order of arrival
/// within this process and, with a lock file, among processes.
///
/// The system call that waits for a file lock can be neither limited nor cancelled.
/// So whoever is first in this process tries again and again.
final class StoreLock: Sendable {
    enum Key: Hashable, Sendable {
        /// A name in a folder, for any path that leads to the folder.
        case file(device: UInt64, folder: UInt64, name: String)
        /// An item of the Keychain.
        case item(KeychainItem)
    }

    enum Attempt: Sendable {
        /// Other processes are locked out while this file is locked.
        case taken(Descriptor?)
        case busy
    }

    /// Tries to lock out other processes, without waiting.
    typealias Trial = @Sendable () async throws -> Attempt

    /// Excludes others until it is released, or the system suspends this process.
    final class Hold: Sendable {
        private struct State {
            var file: Descriptor?
            var endActivity: (@Sendable () -> Void)?
            var wasGivenBack = false
        }

        private let lock: StoreLock
        private let place: FirstValue<Void>
        private let state: Guarded<State>

        fileprivate init(_ lock: StoreLock, _ place: FirstValue<Void>, _ file: Descriptor?) {
            self.lock = lock
            self.place = place
            state = Guarded(State(file: file))
            // The process must keep running while other processes are locked out.
            guard file != nil else { return }
            let end = lock.activity.begin { [weak self] in self?.giveBack() }
            state.withLock { $0.endActivity = end }
        }

        /// Whether other processes were let in before the release.
        var wasGivenBack: Bool { state.withLock { $0.wasGivenBack } }

        /// Lets other processes in; this process's waiters go on waiting.
        private func giveBack() {
            state.withLock { state in
                guard let file = state.file.take() else { return }
                state.wasGivenBack = true
                file.unlock()
            }
        }

        /// Locks other processes out again, also in a task that has been cancelled.
        func takeBack(timeout: Duration, _ trial: @escaping Trial) async throws {
            let file = try await Task { [lock] in
                try await lock.poll(until: lock.deadline(timeout), timeout, trial)
            }.value
            state.withLock { $0.file = file }
        }

        func release() {
            let end = state.withLock { state in
                state.file.take()?.unlock()
                return state.endActivity.take()
            }
            end?()
            lock.leave(place)
        }
    }

    /// Who has the lock, or tries to get it, and who waits behind; each is told when it is the first.
    private let line = Guarded<[FirstValue<Void>]>([])
    private let time: any TimeSource
    private let activity: ExpiringActivity

    private init(time: any TimeSource, activity: ExpiringActivity) {
        self.time = time
        self.activity = activity
    }

    /// Waits for the lock; the first waiter tries at least once.
    ///
    /// - Throws: `TokenStoreError.lockTimedOut`, the error of the trial, or
    ///   `CancellationError` when the task is cancelled before it gets the lock.
    func acquire(timeout: Duration, _ trial: @escaping Trial) async throws -> Hold {
        let deadline = deadline(timeout)
        let place = FirstValue<Void>()
        let isFirst = line.withLock { line in
            line.append(place)
            return line.count == 1
        }
        do {
            if !isFirst, time.now < deadline {
                await time.sleep(for: time.now.duration(to: deadline), until: place)
            }
            try Task.checkCancellation()
            guard line.withLock({ $0.first === place }) else { throw TokenStoreError.lockTimedOut(timeout) }
            return Hold(self, place, try await poll(until: deadline, timeout, trial))
        } catch {
            leave(place)
            throw error
        }
    }

    private func deadline(_ timeout: Duration) -> MonotonicInstant { time.now + timeout.bounded }

    private func poll(until deadline: MonotonicInstant, _ timeout: Duration, _ trial: Trial) async throws -> Descriptor?
    {
        var delay = Duration.milliseconds(1)
        while true {
            if case .taken(let file) = try await trial() { return file }
            let rest = time.now.duration(to: deadline)
            guard rest > .zero else { throw TokenStoreError.lockTimedOut(timeout) }
            await time.sleep(for: min(delay, rest))
            try Task.checkCancellation()
            delay = min(delay * 2, .milliseconds(50))
        }
    }

    private func leave(_ place: FirstValue<Void>) {
        let next = line.withLock { line in
            let wasFirst = line.first === place
            line.removeAll { $0 === place }
            return wasFirst ? line.first : nil
        }
        next?.settle(())
    }
}

extension StoreLock {
    private struct Entry {
        weak var lock: StoreLock?
    }

    private static let locks = Guarded<[Key: Entry]>([:])

    /// The lock of all users of the resource in this process, with the clock and the activity of whoever comes first.
    static func shared(for key: Key, time: any TimeSource, activity: ExpiringActivity) -> StoreLock {
        locks.withLock { locks in
            if let lock = locks[key]?.lock { return lock }
            locks = locks.filter { $0.value.lock != nil }
            let lock = StoreLock(time: time, activity: activity)
            locks[key] = Entry(lock: lock)
            return lock
        }
    }
}

/// Asks the system not to suspend the process for some time.
///
/// A process that is suspended while it holds a file lock in a shared container is
/// ended (0xdead10cc). So the lock is given back when the activity expires.
struct ExpiringActivity: Sendable {
    /// Begins an activity, which calls `onExpiry` at most once, on any thread, perhaps
    /// before this returns; what it returns ends it, and is called once.
    let begin: @Sendable (_ onExpiry: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        static let system = ExpiringActivity { onExpiry in
            let isDone = DispatchSemaphore(value: 0)
            // The system calls the block on a thread of its own: first to run
            // the activity, then, while that still runs, to announce its end.
            ProcessInfo.processInfo.performExpiringActivity(withReason: "The tokens of a session are locked") {
                isExpired in
                if isExpired {
                    onExpiry()
                    isDone.signal()
                } else {
                    isDone.wait()
                }
            }
            return { isDone.signal() }
        }
    #else
        /// The process is never suspended.
        static let system = ExpiringActivity { _ in {} }
    #endif
}
