import Foundation

/// Lets one at a time use what several use: in this process in the order of
/// arrival, and, where there is a lock file, among processes.
///
/// A process that is stopped may hold the lock for ever, and the system call
/// that waits for it can be neither limited nor taken back. So whoever is first
/// here asks again and again, for as long as it cares to wait; no thread is
/// blocked.
final class StoreLock: Sendable {
    /// What is locked.
    enum Key: Hashable, Sendable {
        /// A name in a folder, whatever path leads to that.
        case file(device: UInt64, folder: UInt64, name: String)
        /// An item of the Keychain.
        case item(KeychainItem)
    }

    /// What came of one try to keep other processes out.
    enum Attempt: Sendable {
        /// They are out, as long as this file is locked.
        case taken(Descriptor?)
        /// One of them keeps us out.
        case busy
    }

    /// Keeps others out until it is released.
    struct Hold: Sendable {
        fileprivate let lock: StoreLock
        fileprivate let file: Descriptor?

        /// Lets the next one in; to be called once.
        func release() {
            file?.unlock()
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

    /// The first and the longest time between two tries.
    private static let delays = (first: Duration.milliseconds(1), longest: Duration.milliseconds(50))

    private struct State {
        var line: [Place] = []
        var isHeld = false
        var delay = StoreLock.delays.first
        var alarm: (any Alarm)?
    }

    private let state = Guarded(State())
    private let time: any TimeSource
    /// Where `pass` runs, and nowhere else.
    private let queue = DispatchQueue(label: "AtomNetworking.storeLock", qos: .userInitiated)

    init(time: any TimeSource) {
        self.time = time
    }

    deinit {
        state.withLock { $0.alarm }?.invalidate()
    }

    /// Waits for its turn.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; who is first in line tries at least
    ///     once.
    ///   - attempt: Tries to keep other processes out, without waiting.
    /// - Throws: `TokenStoreError.lockTimedOut`, what `attempt` throws, or
    ///   `CancellationError` when the task is cancelled before it is its turn.
    func acquire(
        timeout: Duration, attempt: @escaping @Sendable () throws -> Attempt
    ) async throws -> Hold {
        let limit = min(max(timeout, .zero), .seconds(1 << 30))
        let waiter = Waiter(deadline: time.now + limit, timeout: timeout, attempt: attempt)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.line.append(Place(waiter: waiter, continuation: continuation)) }
                // Cancelled before it stood in line, it was not found there.
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

    /// Lets the first in line in if it can be, and turns away those whose time
    /// is up.
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
        // After the try: whoever was asleep for longer than it wanted to wait finds the lock free.
        for late in state.withLock({ $0.line.filter { $0.waiter.deadline <= now } }) {
            finish(late.waiter, with: .failure(TokenStoreError.lockTimedOut(late.waiter.timeout)))
        }
        state.withLock { arm(at: now, &$0) }
    }

    /// Gives the lock to the first in line.
    ///
    /// - Returns: Whether it took it; it may have left meanwhile.
    private func admit(_ waiter: Waiter, _ file: Descriptor?) -> Bool {
        state.withLock { state in
            state.isHeld = true
            state.delay = Self.delays.first
        }
        if finish(waiter, with: .success(Hold(lock: self, file: file))) { return true }
        file?.unlock()
        state.withLock { $0.isHeld = false }
        return false
    }

    /// Takes somebody out of the line, and tells it why.
    ///
    /// - Returns: Whether it was still in line.
    @discardableResult
    private func finish(_ waiter: Waiter, with result: Result<Hold, any Error>) -> Bool {
        let place = state.withLock { state in
            state.line.firstIndex { $0.waiter === waiter }.map { state.line.remove(at: $0) }
        }
        place?.continuation.resume(with: result)
        return place != nil
    }

    /// Has `pass` run again when it is time for a try or somebody's time is up.
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
    /// The locks of the process, one for each thing that is locked.
    private final class Registry: Sendable {
        private struct Entry {
            weak var lock: StoreLock?
        }

        private let entries = Guarded<[Key: Entry]>([:])

        func lock(for key: Key, time: any TimeSource) -> StoreLock {
            entries.withLock { entries in
                if let lock = entries[key]?.lock { return lock }
                entries = entries.filter { $0.value.lock != nil }
                let lock = StoreLock(time: time)
                entries[key] = Entry(lock: lock)
                return lock
            }
        }
    }

    private static let registry = Registry()

    /// The lock that everybody in the process uses for it, while anybody does.
    ///
    /// - Parameter time: What a lock that nobody uses yet goes by.
    static func shared(for key: Key, time: any TimeSource) -> StoreLock {
        registry.lock(for: key, time: time)
    }
}
