import Foundation

/// The threads of one server: one that accepts and one for each connection.
final class ServerThreads: Sendable {
    /// What debuggers show; Linux takes 15 bytes.
    private let name: String
    /// Opened when the server stops.
    private let stopping = LoopbackServer.Gate()
    private let accepting = DispatchGroup()
    private let serving = DispatchGroup()

    init(name: String) { self.name = name }

    /// Starts a thread for a connection.
    func startServing(_ body: @escaping @Sendable () -> Void) {
        start(in: serving, body)
    }

    /// Starts a thread with a small stack.
    private func start(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        let isStarted = DispatchSemaphore(value: 0)
        let thread = Thread { [stopping, name] in
            // On Linux a name has no effect until `start()` has returned.
            isStarted.wait()
            Thread.current.name = name
            ServerThread.currentStop = stopping
            body()
            group.leave()
        }
        thread.stackSize = 1 << 19
        thread.start()
        isStarted.signal()
    }

    /// Accepts connections until ``stop()``, then closes the listener.
    func startAccepting(on listener: Socket, _ accepted: @escaping @Sendable (Socket) -> Void) {
        let stopping = stopping
        start(in: accepting) {
            while !poll(reading: listener, gate: stopping, milliseconds: -1).gate {
                while let socket = listener.acceptNext() { accepted(socket) }
            }
            listener.discard()
        }
    }

    /// Waits until all threads have ended.
    ///
    /// On one of these threads it waits only until the port is closed.
    ///
    /// The sockets have been shut down before.
    func stop() {
        stopping.open()
        let deadline = DispatchTime.now() + 10
        _ = accepting.wait(timeout: deadline)
        if ServerThread.currentStop !== stopping { _ = serving.wait(timeout: deadline) }
    }
}

/// The connection between a server's thread and its server.
enum ServerThread {
    private static let key = "LoopbackServer.stopping"

    /// The gate that opens when this thread's server stops; `nil` on any other thread.
    static var currentStop: LoopbackServer.Gate? {
        get { Thread.current.threadDictionary[key] as? LoopbackServer.Gate }
        set { Thread.current.threadDictionary[key] = newValue }
    }
}
