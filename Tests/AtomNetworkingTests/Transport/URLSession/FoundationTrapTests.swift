import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if os(Linux)
    /// Responses for which Foundation on Linux ends the process.
    ///
    /// Foundation does so before it calls any code of the SDK, so nothing above
    /// URLSession can prevent it. Each test fails when Foundation has been
    /// fixed (swift-corelibs-foundation #5285), and then belongs to the other
    /// suites.
    @Suite(.limited) struct FoundationTrapTests {
        @Test("Foundation on Linux ends the process when a response ends in the middle of its head")
        func anEndInTheMiddleOfTheHead() async {
            await withKnownIssue("Transfer completed, but there's no response") {
                await #expect(processExitsWith: .success) {
                    let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nA: b") }
                    defer { server.stop() }
                    _ = await Atom.forTest(over: .urlSession).outcome(of: server.endpoint())
                }
            }
        }

        @Test("Foundation on Linux ends the process when a chunked body has trailers")
        func aChunkedBodyWithTrailers() async {
            await withKnownIssue("Transfer completed, but there's no response") {
                await #expect(processExitsWith: .success) {
                    let answer = LoopbackServer.Response.chunked([Data("hi".utf8)], trailers: [("X-Checksum", "1")])
                    let server = try LoopbackServer { _ in answer }
                    defer { server.stop() }
                    _ = await Atom.forTest(over: .urlSession).outcome(of: server.endpoint())
                }
            }
        }

        @Test("Foundation on Linux ends the process when a redirect leads to an address with a zone")
        func aLocationWithAZone() async {
            await withKnownIssue("Invalid URL") {
                await #expect(processExitsWith: .success) {
                    let server = try LoopbackServer { _ in .redirect(302, location: "//[::1%25eth0]:80/x") }
                    defer { server.stop() }
                    _ = await Atom.forTest(over: .urlSession).outcome(of: server.endpoint())
                }
            }
        }
    }
#endif
