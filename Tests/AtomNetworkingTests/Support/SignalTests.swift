import Testing

@Suite("A test's signal", .limited)
struct SignalTests {
    @Test("A missing signal makes its test fail instead of hang")
    func never() async {
        await withKnownIssue { await Signal().wait(seconds: 0.01) }
        #expect(await !eventually(seconds: 0.01) { false })
    }

    @Test("A wait ends when the signal has happened")
    func happens() async {
        let signal = Signal()
        async let first: Void = signal.wait()
        signal.raise()
        await first
        await signal.wait(seconds: nil)
    }
}
