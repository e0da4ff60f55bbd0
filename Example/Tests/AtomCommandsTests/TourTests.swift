import AtomNetworking
import AtomNetworkingExports
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct TourTests {
    @Test func theMainJobEndsAsExpected() async throws {
        let output = RecordingTerminal()
        let recorder = HARRecorder()
        let isPassed = try await Tour.run(on: output.terminal(), recorder: recorder)
        #expect(isPassed, "\(output.text)")
        #expect(output.text.contains("books seat"))
        #expect(output.text.contains("five identical requests are one request at the airline's server"))
        #expect(output.text.contains("one refresh"))
        #expect(output.text.contains("requests are sent over "))
        #if os(Linux)
            if CurlTransport.libraryVersion != nil {
                #expect(output.text.contains("a chunked answer with trailers is an answer"))
            }
        #endif
        #expect(output.text.contains("the server's CRC-32 is the same"))
        #expect(output.text.contains("the next one goes on with 206"))
        #expect(output.text.contains("no expired token was sent"))
        #expect(output.text.contains("a 401 whose body never ends is refreshed for"))
        #expect(output.text.contains("the next one carries the newest token"))
        #expect(output.text.contains("the first account continues with its successor"))
        #expect(output.text.contains("one refresh for both"))
        #expect(output.text.contains("the other one is signed out too"))
        #expect(output.text.contains("the recording answers the same requests"))
        #expect(!output.text.contains("\u{1B}"))
        #expect(!output.text.contains("lovelace"))
        let archive = String(decoding: recorder.har(), as: UTF8.self)
        #expect(archive.contains("for a new access token") && archive.contains("/flights"))
        #expect(!archive.contains("lovelace"))
    }
}
