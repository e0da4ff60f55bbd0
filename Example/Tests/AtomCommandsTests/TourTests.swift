import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct TourTests {
    @Test func theMainJobEndsAsExpected() async throws {
        let output = RecordingTerminal()
        let isPassed = try await Tour.run(on: output.terminal())
        #expect(isPassed, "\(output.text)")
        #expect(output.text.contains("books seat"))
        #expect(output.text.contains("one refresh"))
        #expect(output.text.contains("no dead token was sent"))
        #expect(output.text.contains("the first account goes on with what became of it"))
        #expect(output.text.contains("one refresh for both"))
        #expect(output.text.contains("the other finds nobody signed in"))
        #expect(!output.text.contains("\u{1B}"))
        #expect(!output.text.contains("lovelace"))
    }
}
