import Foundation

/// Knows whether the device has a network.
protocol ConnectivityMonitor: Sendable {
    /// Whether there is no network; `nil` if that isn't known yet.
    var isOffline: Bool? { get }

    /// Calls the closure once, on any thread, as soon as there is a network;
    /// also inside this call.
    func whenOnline(_ proceed: @escaping @Sendable () -> Void)
}

/// Keeps who waits for a network, until somebody says that there is one.
final class NetworkWaiters: ConnectivityMonitor {
    private struct Content {
        var isOffline: Bool?
        var waiting: [@Sendable () -> Void] = []
    }

    private let content = Guarded(Content())

    var isOffline: Bool? { content.withLock { $0.isOffline } }

    func whenOnline(_ proceed: @escaping @Sendable () -> Void) {
        let isOnline = content.withLock { content in
            if content.isOffline != false { content.waiting.append(proceed) }
            return content.isOffline == false
        }
        if isOnline { proceed() }
    }

    /// The network has come or gone.
    func changed(isOffline: Bool) {
        let released = content.withLock { content -> [@Sendable () -> Void] in
            content.isOffline = isOffline
            guard !isOffline else { return [] }
            defer { content.waiting = [] }
            return content.waiting
        }
        for proceed in released { proceed() }
    }
}

#if canImport(Network)
    import Network

    /// What the system says of the network; it is watched from the first question
    /// on.
    struct SystemConnectivity: ConnectivityMonitor {
        var isOffline: Bool? { PathWatch.shared.waiters.isOffline }

        func whenOnline(_ proceed: @escaping @Sendable () -> Void) { PathWatch.shared.waiters.whenOnline(proceed) }
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
