import Foundation

/// Gives one user at a time access to a shared resource: in order of arrival
/// within this process and, with a lock file, among processes.
///
/// A paused process may hold the file lock forever, and the system call that
/// waits for it can be neither limited nor cancelled. Therefore the first
/// waiter in this process polls the lock until its timeout; no thread is
/// blocked.
final class StoreLock: Sendable {
    /// Identifies the locked resource.
    enum Key: Hashable, Sendable {
        /// A name in a folder, for any path that leads to the folder.
        case file(device: UInt64, folder: UInt64, name: String)
        /// An item of the Keychain.
        case item(KeychainItem)
    }

    /// The result of one attempt to lock out other processes.
    enum Attempt: Sendable {
        /// They are locked out while this file is locked.
        case taken(Descriptor?)
        /// Another process holds the lock.
        case busy
    }

    /// Excludes others until it is released.
    ///
    /// Other processes are excluded only until the system suspends this one.
    final class Hold: Sendable {
        private struct State {
            var file: Descriptor?
            var endActivity: (@Sendable () -> Void)?
            var isReleased = false
            var wasGivenBack = false
        }

        private let lock: StoreLock
        private let state: Guarded<State>

        fileprivate init(_ lock: StoreLock, _ file: Descriptor?) {
            self.lock = lock
            state = Guarded(State(file: file))
        }

        /// Whether other processes were let in before the release.
        var wasGivenBack: Bool { state.withLock { $0.wasGivenBack } }

        /// Keeps the process running while other processes are locked out.
        fileprivate func begin(_ activity: ExpiringActivity) {
            guard state.withLock({ $0.file != nil }) else { return }
            let end = activity.begin { [weak self] in self?.giveBack() }
            let isReleased = state.withLock { state in
                if !state.isReleased { state.endActivity = end }
                return state.isReleased
            }
            if isReleased { end() }
        }

        /// Lets other processes in; this process's waiters go on waiting.
        private func giveBack() {
            state.withLock { state in
                guard let file = state.file.take() else { return }
                state.wasGivenBack = true
                file.unlock()
            }
        }

        /// Other processes are locked out again.
        func takeBack(_ file: Descriptor?) {
            state.withLock { $0.file = file }
        }

        /// Lets other processes in, when nobody got the lock.
        fileprivate func leave() {
            let end = state.withLock { state in
                state.isReleased = true
                state.file.take()?.unlock()
                return state.endActivity.take()
            }
            end?()
        }

        /// Admits the next waiter; call this once.
        func release() {
            leave()
            lock.released()
        }
    }

    private final class Waiter: Sendable {
        let deadline: MonotonicInstant
        let timeout: Duration
        let attempt: @Sendable () throws -> Attempt

        init(deadline: MonotonicInstant, timeout: Duration, attempt: @escaping @Sendable () throws -> Attempt) {
            self.deadline = deadline
            self.timeout = timeout
            self.attempt = attempt
        }
    }

    private struct Place {
        let waiter: Waiter
        let continuation: CheckedContinuation<Hold, any Error>
    }

    /// The first and the longest delay between two attempts.
    private static let delays = (first: Duration.milliseconds(1), longest: Duration.milliseconds(50))

    private struct State {
        var line: [Place] = []
        var isHeld = false
        var delay = StoreLock.delays.first
        var alarm: (any Alarm)?
    }

    private let state = Guarded(State())
    private let time: any TimeSource
    private let activity: ExpiringActivity
    /// The queue of `pass`, and of nothing else.
    private let queue = DispatchQueue(label: "AtomNetworking.storeLock", qos: .userInitiated)

    init(time: any TimeSource, activity: ExpiringActivity = .system) {
        self.time = time
        self.activity = activity
    }

    deinit {
        state.withLock { $0.alarm }?.invalidate()
    }

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; the first waiter tries at least once.
    ///   - attempt: Tries to lock out other processes, without waiting.
    /// - Throws: `TokenStoreError.lockTimedOut`, the error of `attempt`, or
    ///   `CancellationError` when the task is cancelled before it gets the
    ///   lock.
    func acquire(
        timeout: Duration, attempt: @escaping @Sendable () throws -> Attempt
    ) async throws -> Hold {
        let limit = min(max(timeout, .zero), .seconds(1 << 30))
        let waiter = Waiter(deadline: time.now + limit, timeout: timeout, attempt: attempt)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.line.append(Place(waiter: waiter, continuation: continuation)) }
                // A cancellation before the waiter was enqueued didn't find it
                // there.
                if Task.isCancelled { cancel(waiter) }
                queue.async { self.pass() }
            }
        } onCancel: {
            cancel(waiter)
        }
    }

    private func cancel(_ waiter: Waiter) {
        guard finish(waiter, with: .failure(CancellationError())) else { return }
        queue.async { self.pass() }
    }

    fileprivate func released() {
        state.withLock { $0.isHeld = false }
        queue.async { self.pass() }
    }

    /// Admits the first waiter if possible, and fails waiters whose timeout has
    /// passed.
    private func pass() {
        while let first = state.withLock({ $0.isHeld ? nil : $0.line.first }) {
            let isOver: Bool
            do {
                switch try first.waiter.attempt() {
                case .taken(let file): isOver = admit(first.waiter, file)
                case .busy: isOver = true
                }
            } catch {
                finish(first.waiter, with: .failure(error))
                isOver = false
            }
            if isOver { break }
        }
        let now = time.now
        // This comes after the attempt: a waiter that woke up late may find the
        // lock free.
        for late in state.withLock({ $0.line.filter { $0.waiter.deadline <= now } }) {
            finish(late.waiter, with: .failure(TokenStoreError.lockTimedOut(late.waiter.timeout)))
        }
        state.withLock { arm(at: now, &$0) }
    }

    /// Gives the lock to the first waiter.
    ///
    /// - Returns: Whether it took the lock; it may have left in the meantime.
    private func admit(_ waiter: Waiter, _ file: Descriptor?) -> Bool {
        state.withLock { state in
            state.isHeld = true
            state.delay = Self.delays.first
        }
        let hold = Hold(self, file)
        hold.begin(activity)
        if finish(waiter, with: .success(hold)) { return true }
        hold.leave()
        state.withLock { $0.isHeld = false }
        return false
    }

    /// Removes a waiter from the queue, and gives it the result.
    ///
    /// - Returns: Whether it was still in the queue.
    @discardableResult
    private func finish(_ waiter: Waiter, with result: Result<Hold, any Error>) -> Bool {
        let place = state.withLock { state in
            state.line.firstIndex { $0.waiter === waiter }.map { state.line.remove(at: $0) }
        }
        place?.continuation.resume(with: result)
        return place != nil
    }

    /// Schedules `pass` for the next attempt or the next timeout.
    private func arm(at now: MonotonicInstant, _ state: inout State) {
        guard var next = state.line.map(\.waiter.deadline).min() else { return }
        if !state.isHeld {
            next = min(next, now + state.delay)
            state.delay = min(state.delay * 2, Self.delays.longest)
        }
        let alarm =
            state.alarm
            ?? time.makeAlarm { [weak self] in
                guard let self else { return }
                queue.async { self.pass() }
            }
        state.alarm = alarm
        alarm.set(next)
    }
}

extension StoreLock {
    private struct Entry {
        weak var lock: StoreLock?
    }

    /// The locks of this process.
    private static let locks = Guarded<[Key: Entry]>([:])

    /// The lock of all users of the resource in this process.
    ///
    /// - Parameters:
    ///   - time: The time source of a lock that doesn't exist yet.
    ///   - activity: As with `time`.
    static func shared(
        for key: Key, time: any TimeSource, activity: ExpiringActivity = .system
    ) -> StoreLock {
        locks.withLock { locks in
            if let lock = locks[key]?.lock { return lock }
            locks = locks.filter { $0.value.lock != nil }
            let lock = StoreLock(time: time, activity: activity)
            locks[key] = Entry(lock: lock)
            return lock
        }
    }
}
