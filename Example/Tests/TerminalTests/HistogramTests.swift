import Testing

@testable import Terminal

@Suite struct HistogramTests {
    private func lines(
        _ counts: [Int], isTerminal: Bool = false, _ environment: [String: String] = ["LANG": "en_US.UTF-8"],
        width: Int = 80
    ) -> [String] {
        var histogram = Histogram()
        for (index, count) in counts.enumerated() { histogram.add("\(index)-\(index + 1) ms", count: count) }
        let terminal = Terminal(isTerminal: isTerminal, environment: environment, width: width) { _ in }
        return histogram.lines(for: terminal)
    }

    private func bars(_ lines: [String], _ signs: String) -> [Int] {
        lines.map { line in line.filter { signs.contains($0) }.count }
    }

    @Test func theLargestCountHasTheLongestBar() {
        let lines = lines([100, 50, 1, 0])
        #expect(bars(lines, "#") == [50, 25, 1, 0])
        #expect(lines[0].hasPrefix("0-1 ms  ##") && lines[2].hasPrefix("2-3 ms  # "))
        #expect(lines.map { $0.split(separator: " ").last } == ["100", "50", "1", "0"])
        #expect(Set(lines.map(\.count)).count == 1)
    }

    @Test func aTerminalShowsEighths() {
        // An eighth is 10; 1 is shown all the same.
        let lines = lines([4000, 30, 1, 0], isTerminal: true, ["LANG": "en_US.UTF-8", "NO_COLOR": "1"])
        #expect(bars(lines, "█") == [50, 0, 0, 0])
        #expect(lines[1].contains(" ▍ ") && lines[2].contains(" ▏ "))
        #expect(Set(lines.map(\.count)).count == 1)
    }

    @Test func withoutUTF8ThereAreOnlyPlainSigns() {
        let lines = lines([4, 2], isTerminal: true, ["LANG": "C"])
        #expect(bars(lines, "#") == [50, 25])
        #expect(lines[0].contains("\u{1B}[32m##"))
        #expect(lines.allSatisfy { $0.allSatisfy(\.isASCII) })
    }

    @Test func aNarrowTerminalHasShortBars() {
        #expect(lines([1000, 1], width: 40).map(\.count) == [40, 40])
        #expect(bars(lines([1000, 500], width: 20), "#") == [6, 3])
    }

    @Test func nothingHasNoLines() {
        #expect(lines([]).isEmpty)
        #expect(bars(lines([0, -3]), "#") == [0, 0])
        #expect(lines([-3]).first?.hasSuffix(" 0") == true)
    }

    @Test func labelsAreAlignedAndIndented() {
        var histogram = Histogram()
        histogram.add("9 ms", count: 1)
        histogram.add("10 ms", count: 2)
        let terminal = Terminal(isTerminal: false, environment: [:], width: 40) { _ in }
        let lines = histogram.lines(for: terminal, indent: 2)
        #expect(lines[0].hasPrefix("   9 ms  #") && lines[1].hasPrefix("  10 ms  #"))
    }
}
