import Foundation

/// Lets one at a time use what several use: in this process in the order of
/// arrival, and, where there is a lock file, among processes.
///
/// A process that is stopped may hold the lock for ever, and the system call
/// that waits for it can be neither limited nor taken back. So whoever is first
/// here asks again and again, for as long as it cares to wait; no thread is
/// blocked.
final class StoreLock: @unchecked Sendable {
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

    // What follows is touched under `guardian` only; the rest is constant. `pass` runs on `queue` only.
    private let guardian = NSLock()
    private var line: [Place] = []
    private var isHeld = false
    private var delay = delays.first
    private var alarm: (any Alarm)?

    private let time: any TimeSource
    private let queue = DispatchQueue(label: "AtomNetworking.storeLock", qos: .userInitiated)

    init(time: any TimeSource) {
        self.time = time
    }

    deinit {
        alarm?.invalidate()
    }

    /// How many wait.
    var waiterCount: Int { guardian.withLock { line.count } }

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
                guardian.withLock { line.append(Place(waiter: waiter, continuation: continuation)) }
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
        guardian.withLock { isHeld = false }
        queue.async { self.pass() }
    }

    /// Lets the first in line in if it can be, and turns away those whose time
    /// is up.
    private func pass() {
        while let first = guardian.withLock({ isHeld ? nil : line.first }) {
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
        for late in guardian.withLock({ line.filter { $0.waiter.deadline <= now } }) {
            finish(late.waiter, with: .failure(TokenStoreError.lockTimedOut(late.waiter.timeout)))
        }
        guardian.withLock { arm(at: now) }
    }

    /// Gives the lock to the first in line.
    ///
    /// - Returns: Whether it took it; it may have left meanwhile.
    private func admit(_ waiter: Waiter, _ file: Descriptor?) -> Bool {
        guardian.withLock {
            isHeld = true
            delay = Self.delays.first
        }
        if finish(waiter, with: .success(Hold(lock: self, file: file))) { return true }
        file?.unlock()
        guardian.withLock { isHeld = false }
        return false
    }

    /// Takes somebody out of the line, and tells it why.
    ///
    /// - Returns: Whether it was still in line.
    @discardableResult
    private func finish(_ waiter: Waiter, with result: Result<Hold, any Error>) -> Bool {
        let place = guardian.withLock {
            line.firstIndex { $0.waiter === waiter }.map { line.remove(at: $0) }
        }
        place?.continuation.resume(with: result)
        return place != nil
    }

    /// Has `pass` run again when it is time for a try or somebody's time is up.
    private func arm(at now: MonotonicInstant) {
        guard var next = line.map(\.waiter.deadline).min() else { return }
        if !isHeld {
            next = min(next, now + delay)
            delay = min(delay * 2, Self.delays.longest)
        }
        let alarm =
            self.alarm
            ?? time.makeAlarm { [weak self] in
                guard let self else { return }
                queue.async { self.pass() }
            }
        self.alarm = alarm
        alarm.set(next)
    }
}

extension StoreLock {
    /// The locks of the process, one for each thing that is locked.
    private final class Registry: @unchecked Sendable {
        private struct Entry {
            weak var lock: StoreLock?
        }

        // `entries` is touched under `guardian` only.
        private let guardian = NSLock()
        private var entries: [Key: Entry] = [:]

        func lock(for key: Key, time: any TimeSource) -> StoreLock {
            guardian.withLock {
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
