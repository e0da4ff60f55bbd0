import AtomNetworking
import AtomNetworkingExports
import Testing

@testable import AtomCommands

@Suite(.limited) struct TourTests {
    @Test func theMainJobEndsAsExpected() async throws {
        let output = RecordingTerminal()
        let recorder = HARRecorder()
        let isPassed = try await Tour.run(on: output.terminal(), recorder: recorder)
        #expect(isPassed, "\(output.text)")
        for told in [
            "books seat", "five identical requests are one request", "the next one goes on with 206",
            "one refresh, and no refresh token was used twice", "got a 401, waited for the refresh",
            "the next one carries the new token", "one refresh for both", "the other one is signed out too",
        ] {
            #expect(output.text.contains(told), "\(told)")
        }
        #expect(!output.text.contains("\u{1B}"))
        #expect(!output.text.contains("lovelace"))
        let archive = String(decoding: recorder.har(), as: UTF8.self)
        #expect(archive.contains("for a new access token") && archive.contains("/flights"))
        #expect(!archive.contains("lovelace"))
    }
}
