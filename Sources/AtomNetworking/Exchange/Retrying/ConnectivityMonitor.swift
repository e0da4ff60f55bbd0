import Foundation

/// Knows whether the device has a network, for a ``ConnectivityPlugin``.
public protocol ConnectivityMonitoring: Sendable {
    /// What is known now; read on any thread, for each request, so it must not wait.
    var snapshot: ConnectivitySnapshot { get }
}

/// What is known of the network at one moment.
public struct ConnectivitySnapshot: Sendable, Hashable {
    /// Whether there is no network; `nil` if nobody knows.
    public let isOffline: Bool?
    /// For how long that has been so.
    public let duration: Duration

    /// Creates a snapshot.
    public init(isOffline: Bool?, duration: Duration = .zero) {
        self.isOffline = isOffline
        self.duration = duration
    }
}

/// Lets requests wait for a network.
protocol ConnectivityMonitor: ConnectivityMonitoring {
    /// Calls the closure once, on any thread, as soon as there is a network; also inside this call.
    ///
    /// - Parameter waiter: Who waits, once at a time.
    func whenOnline(_ waiter: ObjectIdentifier, _ proceed: @escaping @Sendable () -> Void)

    /// Forgets somebody who doesn't wait any more.
    func forget(_ waiter: ObjectIdentifier)
}

extension ConnectivityMonitor {
    /// Whether there is no network; `nil` if that isn't known yet.
    var isOffline: Bool? { snapshot.isOffline }
}

/// Keeps who waits for a network, until somebody says that there is one.
final class NetworkWaiters: ConnectivityMonitor {
    private struct Content {
        var isOffline: Bool?
        /// Since when.
        var since: MonotonicInstant?
        var waiting: [ObjectIdentifier: (place: Int, proceed: @Sendable () -> Void)] = [:]
        var nextPlace = 0
    }

    private let content = Guarded(Content())
    private let time: any TimeSource

    init(time: any TimeSource = SystemTimeSource()) { self.time = time }

    var snapshot: ConnectivitySnapshot {
        let now = time.now
        return content.withLock { content in
            ConnectivitySnapshot(
                isOffline: content.isOffline, duration: content.since.map { max($0.duration(to: now), .zero) } ?? .zero)
        }
    }

    func whenOnline(_ waiter: ObjectIdentifier, _ proceed: @escaping @Sendable () -> Void) {
        let isOnline = content.withLock { content in
            guard content.isOffline != false else { return true }
            content.waiting[waiter] = (content.nextPlace, proceed)
            content.nextPlace += 1
            return false
        }
        if isOnline { proceed() }
    }

    func forget(_ waiter: ObjectIdentifier) {
        // Released outside the lock.
        _ = content.withLock { $0.waiting.removeValue(forKey: waiter)?.proceed }
    }

    /// How many wait.
    var count: Int { content.withLock { $0.waiting.count } }

    /// The network has come or gone.
    func changed(isOffline: Bool) {
        let now = time.now
        let released = content.withLock { content -> [@Sendable () -> Void] in
            if content.isOffline != isOffline { content.since = now }
            content.isOffline = isOffline
            guard !isOffline else { return [] }
            defer { content.waiting = [:] }
            return content.waiting.values.sorted { $0.place < $1.place }.map { $0.proceed }
        }
        for proceed in released { proceed() }
    }
}

// On watchOS the system's monitor says to most apps that there is no network (Apple's TN3135).
#if canImport(Network) && !os(watchOS)
    import Network

    /// What the system says of the network; it is watched from the first question on.
    struct SystemConnectivity: ConnectivityMonitor {
        var snapshot: ConnectivitySnapshot { PathWatch.shared.waiters.snapshot }

        func whenOnline(_ waiter: ObjectIdentifier, _ proceed: @escaping @Sendable () -> Void) {
            PathWatch.shared.waiters.whenOnline(waiter, proceed)
        }

        func forget(_ waiter: ObjectIdentifier) { PathWatch.shared.waiters.forget(waiter) }
    }

    // Unchecked, because not every version of the system's SDK declares the monitor as `Sendable`. It is used only in
    // `init`, and kept from then on.
    private final class PathWatch: @unchecked Sendable {
        static let shared = PathWatch()

        let waiters = NetworkWaiters()
        private let monitor = NWPathMonitor()

        private init() {
            monitor.pathUpdateHandler = { [waiters] path in waiters.changed(isOffline: path.status == .unsatisfied) }
            monitor.start(queue: DispatchQueue(label: "AtomNetworking.PathMonitor"))
        }
    }
#endif
