import AtomNetworking
import Foundation
import Terminal
import Testing

@testable import AtomCommands

@Suite struct TransferRateTests {
    @Test func aSpeedNeedsSomeTime() {
        var rate = TransferRate()
        #expect(rate.bytesPerSecond == nil)
        rate.note(0, at: 10)
        rate.note(500, at: 10.1)
        #expect(rate.bytesPerSecond == nil)
        #expect(rate.secondsLeft(of: 1000) == nil)
        rate.note(1000, at: 10.5)
        #expect(rate.bytesPerSecond == 2000)
        #expect(rate.secondsLeft(of: 5000) == 2)
    }

    @Test func whatAnEarlierDownloadLeftIsNotFast() {
        var rate = TransferRate()
        rate.note(1_000_000, at: 0)
        rate.note(1_000_100, at: 1)
        #expect(rate.bytesPerSecond == 100)
        #expect(rate.averageBytesPerSecond == 100)
    }

    @Test func onlyTheLastSecondsCount() {
        var rate = TransferRate()
        for second in 0...10 { rate.note(Int64(second) * 1000, at: Double(second)) }
        for second in 11...20 { rate.note(10_000 + Int64(second - 10) * 100, at: Double(second)) }
        #expect(rate.bytesPerSecond == 100)
        #expect(rate.averageBytesPerSecond == 550)
        #expect(rate.secondsLeft(of: 12_000) == 10)
    }

    @Test func aBodyThatIsSentAgainBeginsAnew() {
        var rate = TransferRate()
        rate.note(0, at: 0)
        rate.note(9000, at: 1)
        rate.note(100, at: 2)
        #expect(rate.bytesPerSecond == nil)
        rate.note(300, at: 3)
        #expect(rate.bytesPerSecond == 200)
        #expect(rate.averageBytesPerSecond == 200)
    }

    @Test func whatStandsStillHasNoEnd() {
        var rate = TransferRate()
        rate.note(100, at: 0)
        rate.note(100, at: 1)
        #expect(rate.bytesPerSecond == 0)
        #expect(rate.secondsLeft(of: 1000) == nil)
        #expect(rate.secondsLeft(of: nil) == nil)
    }
}

@Suite struct QuantityTests {
    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (99_949, "99.9 kB"), (99_950, "100 kB"),
        (999_949, "1000 kB"), (999_950, "1.0 MB"), (12_345_678, "12.3 MB"), (5_000_000_000, "5.0 GB"),
    ])
    func sizesHaveUnitsOfAThousand(count: Int64, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test(arguments: [
        (0, "0 s"), (0.1, "1 s"), (59, "59 s"), (60, "1 min 0 s"), (3599.5, "1 h 0 min"), (7800, "2 h 10 min"),
        (Double.infinity, "2400 h 0 min"),
    ])
    func timesAreRoundedUp(seconds: Double, text: String) {
        #expect(Quantity.time(seconds) == text)
    }
}

@Suite struct TransferMeterTests {
    /// A clock that the test sets.
    private final class ManualClock: @unchecked Sendable {
        private let lock = NSLock()
        private var seconds = 0.0

        func set(_ seconds: Double) { lock.withLock { self.seconds = seconds } }

        @Sendable func now() -> Double { lock.withLock { seconds } }
    }

    private let output = RecordingTerminal()
    private let clock = ManualClock()

    private func meter(isTerminal: Bool) -> TransferMeter {
        TransferMeter("Upload", on: output.terminal(isTerminal: isTerminal), now: clock.now)
    }

    @Test func inAPipeThereIsALineForEachTenth() {
        let meter = meter(isTerminal: false)
        // 4 % a second, reported every 0.1 s.
        for step in 0...250 {
            clock.set(Double(step) / 10)
            meter.update(TransferProgress(completed: Int64(step) * 4000, total: 1_000_000))
        }
        meter.finish()
        let lines = output.lines.filter { !$0.isEmpty }
        #expect(lines.count == 10)
        #expect(lines.first == "100 kB of 1.0 MB (10 %), 40.0 kB/s, 23 s left")
        #expect(lines.dropLast().last == "900 kB of 1.0 MB (90 %), 40.0 kB/s, 3 s left")
        #expect(lines.last == "1.0 MB, 40.0 kB/s")
        #expect(!output.text.contains("\u{1B}") && !output.text.contains("\r"))
    }

    @Test func inAPipeThereIsNeverMoreThanOneLineASecond() {
        let meter = meter(isTerminal: false)
        for step in 0...100 {
            clock.set(Double(step) / 40)
            meter.update(TransferProgress(completed: Int64(step) * 10, total: 1000))
        }
        meter.finish()
        #expect(output.lines.filter { $0.contains("left") }.count == 2)
        #expect(output.text.hasSuffix("1.0 kB, 400 B/s\n"))
    }

    @Test func aTransferOfUnknownLengthHasALineASecond() {
        let meter = meter(isTerminal: false)
        for step in 0...30 {
            clock.set(Double(step) / 10)
            meter.update(TransferProgress(completed: Int64(step) * 100, total: nil))
        }
        meter.finish()
        #expect(output.text == "1.0 kB, 1.0 kB/s\n2.0 kB, 1.0 kB/s\n3.0 kB, 1.0 kB/s\n3.0 kB, 1.0 kB/s\n")
    }

    @Test func theLastLineIsAlwaysThere() {
        let short = meter(isTerminal: false)
        short.update(TransferProgress(completed: 5, total: 5))
        short.finish()
        short.finish()
        #expect(output.text == "5 bytes\n")
    }

    @Test func anIncompleteTransferSaysHowFarItCame() {
        let cut = meter(isTerminal: false)
        cut.update(TransferProgress(completed: 2000, total: 5000))
        cut.finish()
        #expect(output.text == "2.0 kB of 5.0 kB\n")
    }

    @Test func whatNeverBeganHasNoLine() {
        meter(isTerminal: false).finish()
        #expect(output.text.isEmpty)
    }

    @Test func aTerminalIsRedrawnInPlace() {
        let meter = meter(isTerminal: true)
        for step in 0...16 {
            clock.set(Double(step) / 8)
            // The second one is too early to be drawn.
            meter.update(TransferProgress(completed: Int64(step) * 62_500, total: 1_000_000))
            meter.update(TransferProgress(completed: Int64(step) * 62_500, total: 1_000_000))
        }
        let drawings = output.text.components(separatedBy: "\r").dropFirst()
        #expect(drawings.count == 17)
        #expect(drawings.allSatisfy { $0.hasPrefix("Upload ") && $0.hasSuffix("\u{1B}[K") })
        #expect(drawings.contains { $0.contains("500 kB of 1.0 MB (50 %)  500 kB/s  1 s left") })
        #expect(!output.text.contains("\n"))
        meter.finish()
        #expect(output.text.hasSuffix("\r\u{1B}[K1.0 MB, 500 kB/s\n"))
    }

    @Test func theBarKeepsItsWidth() {
        let meter = meter(isTerminal: true)
        for step in 0...20 {
            clock.set(Double(step))
            meter.update(TransferProgress(completed: Int64(step) * 51_000_000, total: 1_020_000_000))
        }
        let widths = output.text.components(separatedBy: "\r").dropFirst().map { drawing in
            drawing.filter { "█░".contains($0) }.count
        }
        #expect(Set(widths).count == 1)
    }

    @Test(arguments: [20, 30, 40, 80])
    func aLineFitsTheTerminal(width: Int) {
        let terminal = Terminal(
            isTerminal: true, environment: ["NO_COLOR": "1"], width: width,
            sink: { [output] text in
                output.write(Data(text.utf8))
            })
        let meter = TransferMeter("Download", on: terminal, now: clock.now)
        for step in 0...20 {
            clock.set(Double(step))
            meter.update(TransferProgress(completed: Int64(step) * 12_345_678, total: 987_654_321_000))
        }
        let drawings = output.text.components(separatedBy: "\r").dropFirst()
        #expect(drawings.allSatisfy { $0.dropLast(3).count < width })
    }
}
