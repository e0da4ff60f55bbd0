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

    /// Excludes others until it is released; other processes only until the system suspends this one.
    final class Hold: Sendable {
        private struct State {
            var isHeld = false
            var file: Descriptor?
            /// Which activity keeps the process running, and whether the system has announced its end.
            var activity = 0
            var isExpired = false
            var endActivity: (@Sendable () -> Void)?
            var wasGivenBack = false
            var isReleased = false

            mutating func giveBack() {
                guard let file = file.take() else { return }
                (isHeld, wasGivenBack) = (false, true)
                file.unlock()
            }
        }

        private let lock: StoreLock
        private let place: FirstValue<Void>
        private let state = Guarded(State())

        fileprivate init(_ lock: StoreLock, _ place: FirstValue<Void>) {
            self.lock = lock
            self.place = place
        }

        var isReleased: Bool { state.withLock { $0.isReleased } }
        var wasGivenBack: Bool { state.withLock { $0.wasGivenBack } }

        /// Locks other processes out, for the first time or again, after the process has been asked to be kept running.
        func take(timeout: Duration, until deadline: MonotonicInstant, _ trial: @escaping Trial) async throws {
            let (number, last) = state.withLock { state in
                state.activity += 1
                state.isExpired = false
                return (state.activity, state.endActivity.take())
            }
            last?()
            let end = lock.activity.begin { [weak self] in self?.expire(number) }
            state.withLock { $0.endActivity = end }
            defer { if isReleased { endActivity() } }
            let file = try await lock.poll(until: deadline, timeout, trial)
            state.withLock { state in
                (state.file, state.isHeld) = (file, true)
                if state.isReleased { state.giveBack() }
            }
        }

        /// Runs the body while others are locked out; `nil` if they were let in.
        ///
        /// The lock isn't given back in its midst. If the activity has expired, it is afterwards.
        ///
        /// - Parameter body: Gets whether others were let in since the lock was taken first.
        func whileHeld<T: Sendable>(_ body: (_ wasGivenBack: Bool) throws -> T) rethrows -> T? {
            try state.withLock { state in
                guard state.isHeld else { return nil }
                defer { if state.isExpired { state.giveBack() } }
                return try body(state.wasGivenBack)
            }
        }

        /// Lets other processes in; this process's waiters go on waiting.
        private func expire(_ number: Int) {
            state.withLock { state in
                guard state.activity == number else { return }
                state.isExpired = true
                state.giveBack()
            }
        }

        func release() {
            state.withLock { state in
                state.file.take()?.unlock()
                (state.isHeld, state.isReleased) = (false, true)
            }
            endActivity()
            lock.leave(place)
        }

        private func endActivity() { state.withLock { $0.endActivity.take() }?() }
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
        let deadline = time.now + timeout.bounded
        let place = FirstValue<Void>()
        let hold = Hold(self, place)
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
            try await hold.take(timeout: timeout, until: deadline, trial)
            return hold
        } catch {
            hold.release()
            throw error
        }
    }

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
