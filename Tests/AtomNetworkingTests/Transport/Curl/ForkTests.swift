#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Glibc
    import Testing

    @testable import AtomNetworking

    /// A sanitizer's own threads don't survive a fork, so no sanitizer runs these.
    @Suite(.limited) struct ForkTests {
        @Test("In a forked process a transport starts anew, and the parent's goes on")
        func fork() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .text("here") }
                let transport = try CurlTransport()
                #expect(await transport.run(try .to(server)).text == "here")
                let request = try TransportRequest.to(server)
                let isDone = await onAThreadOfItsOwn {
                    ForkedProcess.run {
                        // Dispatch doesn't work in a child of a process that has
                        // used it, so no event is delivered: the server tells
                        // whether the requests arrive.
                        let old = transport.start(request) { _ in }
                        let new = (try? CurlTransport()).map { $0.start(request) { _ in } }
                        sleepUntilKilled(old, new)
                    } whileItRuns: {
                        let deadline = DispatchTime.now() + 240
                        while server.requestCount < 3, DispatchTime.now() < deadline { usleep(1_000) }
                    }
                }
                #expect(isDone)
                #expect(server.requestCount == 3, "\(server.requestCount)")
                #expect(await transport.run(try .to(server)).text == "here")
                // The child used no connection of the parent's.
                #expect(server.requests.last?.connection == server.requests.first?.connection)
                server.stop()
            }
        }
    }

    /// A child that goes on with a copy of this process.
    enum ForkedProcess {
        /// Runs the body in a child, which is ended afterwards.
        ///
        /// Swift hides `fork`, because most libraries don't survive it.
        static func run(_ body: () -> Void, whileItRuns: () -> Void) -> Bool {
            typealias Fork = @convention(c) () -> pid_t
            guard let symbol = dlsym(nil, "fork") else { return false }
            let child = unsafeBitCast(symbol, to: Fork.self)()
            if child == 0 {
                body()
                _exit(0)
            }
            guard child > 0 else { return false }
            whileItRuns()
            kill(child, SIGKILL)
            var status: Int32 = 0
            return waitpid(child, &status, 0) == child
        }
    }

    /// Keeps a child alive until its parent ends it.
    private func sleepUntilKilled(_ kept: (any TransportExchange)?...) -> Never {
        while true { pause() }
    }
#endif
