import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension LoopbackServer {
    /// A gate that is opened once and stays open.
    ///
    /// With a gate a test can delay a response without sleeping:
    ///
    /// <!-- not compiled: `client` stands for your code -->
    /// ```swift
    /// let gate = LoopbackServer.Gate()
    /// let server = try LoopbackServer { _ in .json("{}").after(gate) }
    /// async let answer = client.send()
    /// await server.waitForRequests(1)
    /// gate.open()
    /// ```
    public final class Gate: Sendable {
        /// Waiting threads poll the pipe's read end.
        ///
        /// Opening the gate closes its write end, which wakes all of them, now and later.
        ///
        /// It is a descriptor, because a waiting server thread polls its socket at the same time.
        private struct State {
            var isOpen = false
            var readEnd: Int32 = -1
            var writeEnd: Int32 = -1
        }

        private let state = Guarded(State())

        /// Makes a gate, which is closed by default.
        public init(isOpen: Bool = false) {
            state.withLock { $0.isOpen = isOpen }
        }

        deinit {
            state.withLock { state in
                if state.readEnd >= 0 { _ = close(state.readEnd) }
                if state.writeEnd >= 0 { _ = close(state.writeEnd) }
            }
        }

        /// Whether the gate has been opened.
        public var isOpen: Bool { state.withLock { $0.isOpen } }

        /// Opens the gate for all current and future waiters.
        ///
        /// Opening it again does nothing.
        public func open() {
            state.withLock { state in
                state.isOpen = true
                guard state.writeEnd >= 0 else { return }
                _ = write(state.writeEnd, "!", 1)  // for a child process may hold the end open too
                _ = close(state.writeEnd)
                state.writeEnd = -1
            }
        }

        /// Blocks the thread until the gate is open.
        ///
        /// It is meant for handlers, which run on their own thread. There it returns early when the server is stopped,
        /// so that a forgotten gate can't block a test forever. It doesn't notice when a client disconnects: respond
        /// with `.after(gate)` or `.wait(gate)` for that.
        @available(*, noasync, message: "This blocks the thread. Await the server's waitFor… methods instead.")
        public func wait() {
            while Self.waitForOne(of: self, -1) == nil {}
        }

        enum Opened {
            case gate
            /// That of the server whose thread it is.
            case stop
        }

        /// Waits until a gate is open or this thread's server stops, for so many milliseconds.
        ///
        /// - Returns: Which one is open already; `nil` after a time of waiting.
        static func waitForOne(of gate: LoopbackServer.Gate?, _ milliseconds: Int32) -> Opened? {
            var watched: [Int32] = []
            if let gate {
                guard let descriptor = gate.waitDescriptor else { return .gate }
                watched.append(descriptor)
            }
            if let stop = ServerThread.currentStop {
                guard let descriptor = stop.waitDescriptor else { return .stop }
                watched.append(descriptor)
            }
            poll(waiting: watched, milliseconds: milliseconds)
            return nil
        }

        /// The descriptor to poll while the gate is closed; `nil` when it is open.
        var waitDescriptor: Int32? {
            state.withLock { state in
                if state.isOpen { return nil }
                if state.readEnd < 0 {
                    var ends: [Int32] = [-1, -1]
                    precondition(pipe(&ends) == 0, "Gate: pipe failed with errno \(errno)")
                    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                    (state.readEnd, state.writeEnd) = (ends[0], ends[1])
                }
                return state.readEnd
            }
        }
    }
}
