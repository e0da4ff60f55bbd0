import Testing

@Suite("What a test waits for", .timeLimit(.minutes(5)))
struct SignalTests {
    @Test("What never happens fails its test, and doesn't hang it")
    func never() async {
        await withKnownIssue { await Signal().wait(seconds: 0.01) }
        #expect(await !eventually(seconds: 0.01) { false })
    }

    @Test("What has happened or happens isn't waited for any longer")
    func happens() async {
        let signal = Signal()
        async let first: Void = signal.wait()
        signal.raise()
        await first
        await signal.wait(seconds: nil)
    }
}
