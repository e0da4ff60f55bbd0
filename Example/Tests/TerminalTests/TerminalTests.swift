import Foundation
import Testing

@testable import Terminal

/// Records the output.
private final class RecordingSink: @unchecked Sendable {
    private let lock = NSLock()
    private var pieces: [String] = []

    var text: String { lock.withLock { pieces.joined() } }

    var count: Int { lock.withLock { pieces.count } }

    func terminal(isTerminal: Bool, _ environment: [String: String] = ["LANG": "en_US.UTF-8"]) -> Terminal {
        Terminal(isTerminal: isTerminal, environment: environment) { [self] piece in
            lock.withLock { pieces.append(piece) }
        }
    }
}

@Suite struct TerminalTests {
    @Test func colourIsForTerminalsThatWantIt() {
        let sink = RecordingSink()
        #expect(sink.terminal(isTerminal: true).styled("x", .green, .bold) == "\u{1B}[32;1mx\u{1B}[0m")
        #expect(sink.terminal(isTerminal: false).styled("x", .green) == "x")
        #expect(sink.terminal(isTerminal: true, ["NO_COLOR": "1"]).styled("x", .green) == "x")
        #expect(sink.terminal(isTerminal: true, ["NO_COLOR": ""]).styled("x", .green) != "x")
        #expect(sink.terminal(isTerminal: true, ["TERM": "dumb"]).styled("x", .green) == "x")
        #expect(sink.terminal(isTerminal: true).styled("x") == "x")
    }

    @Test func aTableIsAsWideAsItsCells() {
        let terminal = RecordingSink().terminal(isTerminal: false)
        var table = Table("Flight", .right("Fare"), "To")
        table.add("AS100", "$129.00", "SFO")
        table.add("AS7", "$9.00")
        #expect(
            table.lines(for: terminal) == [
                "Flight     Fare  To",
                "------  -------  ---",
                "AS100   $129.00  SFO",
                "AS7       $9.00",
            ]
        )
    }

    @Test func stylesTakeNoRoomInATable() {
        let terminal = RecordingSink().terminal(isTerminal: true)
        var table = Table("A", "B")
        table.add(terminal.styled("long", .red), "1")
        table.add("x", "2")
        #expect(table.lines(for: terminal).last == "x     2")
        #expect(TextWidth.of(terminal.styled("long", .red, .bold)) == 4)
    }

    @Test func aChecklistCountsAndMarks() {
        let sink = RecordingSink()
        var checklist = Checklist(on: sink.terminal(isTerminal: false))
        let listed = checklist.check(true, "flights listed", detail: "12 ms")
        let booked = checklist.check(false, "seat booked")
        #expect(listed && !booked)
        #expect(sink.text == "  ok   flights listed  12 ms\n  FAIL seat booked\n")
        #expect(checklist.passed == 1)
        #expect(checklist.failed == 1)
        #expect(!checklist.isPassed)
    }

    @Test func aNoteDoesNotCount() {
        let sink = RecordingSink()
        let checklist = Checklist(on: sink.terminal(isTerminal: false))
        checklist.note("not checked")
        #expect(sink.text == "  --   not checked\n")
        #expect(checklist.passed == 0)
        #expect(checklist.isPassed)
    }

    @Test func aChecklistShinesOnATerminal() {
        let sink = RecordingSink()
        var checklist = Checklist(on: sink.terminal(isTerminal: true))
        checklist.check(true, "done")
        #expect(sink.text == "  \u{1B}[32m✓\u{1B}[0m done\n")
    }

    @Test func aProgressBarIsSilentInAPipe() {
        let sink = RecordingSink()
        let bar = ProgressBar("Storm", total: 3, on: sink.terminal(isTerminal: false))
        bar.advance(by: 3)
        bar.finish()
        #expect(sink.text.isEmpty)
    }

    @Test func aProgressBarRedrawsTenTimesASecondAtMost() {
        let sink = RecordingSink()
        let bar = ProgressBar("Storm", total: 1000, on: sink.terminal(isTerminal: true)) { 1 }
        for _ in 1...1000 { bar.advance() }
        // The first step, the last step, and the end.
        #expect(sink.count == 2)
        #expect(sink.text.contains("1000/1000"))
        bar.finish()
        bar.finish()
        #expect(sink.count == 3)
        #expect(sink.text.hasSuffix("\r\u{1B}[K"))
    }
}
