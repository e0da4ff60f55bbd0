import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct LineSplitterTests {
    struct Case: Sendable {
        let response: Data
        let lines: [Data]

        init(_ response: String, _ lines: [String]) {
            self.response = Data(response.utf8)
            self.lines = lines.map { Data($0.utf8) }
        }

        init(bytes: [UInt8], _ lines: [[UInt8]]) {
            response = Data(bytes)
            self.lines = lines.map { Data($0) }
        }
    }

    static let cases = [
        Case("", []),
        Case("a", ["a"]),
        Case("\n", [""]),
        Case("\r", [""]),
        Case("\r\n", [""]),
        Case("\n\r", ["", ""]),
        Case("\r\r", ["", ""]),
        Case("\n\n", ["", ""]),
        Case("\r\n\r\n", ["", ""]),
        Case("\r\r\n", ["", ""]),
        Case("\r\n\n", ["", ""]),
        Case("\n\r\n", ["", ""]),
        Case("\r\n\r", ["", ""]),
        Case("\n\r\r\n\n", ["", "", "", ""]),
        Case("a\n", ["a"]),
        Case("a\nb", ["a", "b"]),
        Case("a\rb", ["a", "b"]),
        Case("a\r\nb", ["a", "b"]),
        Case("a\n\rb", ["a", "", "b"]),
        Case("a\r\n\r\nb\r\n", ["a", "", "b"]),
        Case("\na", ["", "a"]),
        Case("one\ntwo\r\nthree\rfour", ["one", "two", "three", "four"]),
        Case("12345678\n1234567\r123456\r\n", ["12345678", "1234567", "123456"]),
        Case(
            "a longer line of several words\nand one more of them\r\n",
            ["a longer line of several words", "and one more of them"]),
        Case("{\"a\":1}\n\n{\"a\":2}\n", ["{\"a\":1}", "", "{\"a\":2}"]),
        Case(" a \t\n\u{B}\u{C}\n", [" a \t", "\u{B}\u{C}"]),
        Case("\u{85}\u{2028}\u{2029}\n", ["\u{85}\u{2028}\u{2029}"]),
        Case("\u{10A}\u{D0A}\u{A0D}\n\u{1F60A}", ["\u{10A}\u{D0A}\u{A0D}", "\u{1F60A}"]),
        Case("\0\n\0", ["\0", "\0"]),
        // Next to LF and CR, and with their low bits.
        Case(
            bytes: [9, 11, 12, 14, 0x8A, 0x8D, 0x0A, 0x8B, 0x0B, 0x0A], [[9, 11, 12, 14, 0x8A, 0x8D], [0x8B, 0x0B]]),
        Case(bytes: [0xFF, 0x0A, 0x80, 0xFE, 0x0D], [[0xFF], [0x80, 0xFE]]),
        Case("\u{FEFF}a\n", ["a"]),
        Case("\u{FEFF}", []),
        Case("\u{FEFF}\n", [""]),
        Case("\u{FEFF}\u{FEFF}a", ["\u{FEFF}a"]),
        Case("a\u{FEFF}\n\u{FEFF}b", ["a\u{FEFF}", "\u{FEFF}b"]),
        Case("\n\u{FEFF}b", ["", "\u{FEFF}b"]),
        Case(bytes: [0xEF], [[0xEF]]),
        Case(bytes: [0xEF, 0xBB], [[0xEF, 0xBB]]),
        Case(bytes: [0xEF, 0x0A, 0xBB], [[0xEF], [0xBB]]),
        Case(bytes: [0xEF, 0xBB, 0x0A, 0xBF], [[0xEF, 0xBB], [0xBF]]),
        Case(bytes: [0xEF, 0xBB, 0xBE, 0x0A], [[0xEF, 0xBB, 0xBE]]),
    ]

    private func lines(of parts: [Data], with splitter: LineSplitter = LineSplitter(limit: 100)) throws -> [Data] {
        var splitter = splitter
        var lines: [Data] = []
        for part in parts {
            splitter.append(part)
            while let line = try splitter.next() { lines.append(line) }
        }
        splitter.finish()
        while let line = try splitter.next() { lines.append(line) }
        return lines
    }

    private func failure(_ body: () throws(AtomError) -> Void) -> TransferError.Reason? {
        do {
            try body()
            return nil
        } catch .transfer(let error) {
            #expect(error.delivery == .answered)
            return error.reason
        } catch {
            return nil
        }
    }

    @Test("Lines are the same wherever the parts end", arguments: cases)
    func splits(of example: Case) throws {
        for parts in example.response.splits {
            let lines = try lines(of: parts)
            #expect(lines == example.lines, "\(parts.map { Array($0) })")
        }
    }

    @Test("Lines may be taken after several parts", arguments: cases)
    func late(of example: Case) throws {
        var splitter = LineSplitter(limit: 100)
        var lines: [Data] = []
        // One line after each part, though there may be more.
        for part in example.response.splits[1] + [Data()] {
            splitter.append(part)
            splitter.append(Data())
            if let line = try splitter.next() { lines.append(line) }
        }
        splitter.finish()
        while let line = try splitter.next() { lines.append(line) }
        #expect(lines == example.lines)
    }

    @Test("A line ends at each place of eight bytes", arguments: ["\n", "\r", "\r\n"])
    func places(end: String) throws {
        for count in 0..<40 {
            for shift in 0..<9 {
                let (before, line) = (String(repeating: "b", count: shift), String(repeating: "\u{B}", count: count))
                let lines = try lines(of: [Data((before + end + line + end + "rest").utf8)])
                #expect(lines == [before, line, "rest"].map { Data($0.utf8) })
            }
        }
    }

    @Test("A line that ends with CR is there without the byte after it")
    func atOnce() throws {
        var splitter = LineSplitter(limit: 10)
        splitter.append(Data("a\r".utf8))
        #expect(try splitter.nextText() == "a")
        splitter.append(Data("\n".utf8))
        #expect(try splitter.nextText() == nil)
        splitter.append(Data("b\r".utf8))
        #expect(try splitter.nextText() == "b")
        splitter.append(Data("\r".utf8))
        #expect(try splitter.nextText() == "")
        splitter.append(Data("\n\n".utf8))
        #expect(try splitter.nextText() == "")
        splitter.finish()
        #expect(try splitter.nextText() == nil)
        #expect(try splitter.nextText() == nil)
    }

    @Test("A part may be a slice of other bytes")
    func slice() throws {
        let response = Data("skipped\na\nb".utf8).dropFirst(8)
        #expect(try lines(of: [response]) == [Data("a".utf8), Data("b".utf8)])
    }

    @Test("A line may be as long as the limit, and not longer", arguments: ["\n", "\r", "\r\n", ""])
    func limit(end: String) throws {
        for parts in Data(("\u{FEFF}12345" + end).utf8).splits {
            #expect(try lines(of: parts, with: LineSplitter(limit: 5)) == [Data("12345".utf8)])
            let reason = failure { () throws(AtomError) in
                var splitter = LineSplitter(limit: 4)
                for part in parts {
                    splitter.append(part)
                    while try splitter.next() != nil {}
                }
            }
            #expect(reason == .tooLarge, "\(parts.map { Array($0) })")
        }
    }

    @Test("Lines before one that is too long are there, and none after it")
    func afterLimit() throws {
        var splitter = LineSplitter(limit: 4)
        splitter.append(Data("a\r\n12345\nb\n".utf8))
        #expect(try splitter.nextText() == "a")
        for _ in 0..<3 {
            #expect(failure { () throws(AtomError) in _ = try splitter.nextText() } == .tooLarge)
            splitter.append(Data("c\n".utf8))
        }
        splitter.finish()
        #expect(failure { () throws(AtomError) in _ = try splitter.next() } == .tooLarge)
    }

    @Test("With a limit of 0 there are only blank lines")
    func noLimit() throws {
        #expect(
            try lines(of: [Data("\u{FEFF}\n\r\n\r".utf8)], with: LineSplitter(limit: 0)) == [Data(), Data(), Data()])
    }

    @Test(
        "Text that is UTF-8 is given out as it is",
        arguments: [
            "", "a", "fifteen letters", "sixteen letters.", "\0", "\u{FEFF}", "\u{FEFF}\u{FEFF}a", "\u{FFFD}",
            "a\u{FFFD}\u{FFFD}",
            "\u{E9}", "e\u{301}", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", "\u{1F469}\u{200D}\u{1F680}",
            "a longer text with \u{6F22}\u{5B57} in it",
        ])
    func text(_ text: String) throws {
        var splitter = LineSplitter(limit: 100)
        splitter.append(Data(("\u{FEFF}" + text + "\n").utf8))
        let line = try splitter.nextText()
        #expect(line.map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(
        "Text that isn't UTF-8 is an error",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x41], [0xE0, 0x80, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xEF, 0xBB], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98],
            [0xF0, 0x9F, 0x98, 0x41], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            Array("caf\u{E9} and more".unicodeScalars.map { UInt8($0.value) }),
        ] as [[UInt8]])
    func notText(_ bytes: [UInt8]) throws {
        for (before, after) in [("", ""), ("a", "b"), ("a longer text before it ", " and after it")] {
            var splitter = LineSplitter(limit: 100)
            splitter.append(Data("first\n".utf8) + Data(before.utf8) + Data(bytes) + Data((after + "\nlast\n").utf8))
            #expect(try splitter.nextText() == "first")
            #expect(failure { () throws(AtomError) in _ = try splitter.nextText() } == .notUTF8)
        }
    }

    // With a search from the beginning of the line after each part it would
    // take minutes.
    @Test("The time grows with the bytes, however small the parts are", .limited)
    func linear() throws {
        let count = 400_000
        var splitter = LineSplitter(limit: count)
        let part = Data("x".utf8)
        for _ in 0..<count {
            splitter.append(part)
            guard try splitter.nextRange() == nil else { break }
        }
        splitter.append(Data("\n".utf8))
        #expect(try splitter.next()?.count == count)
        splitter.append(Data(String(repeating: "\n", count: count).utf8))
        var lines = 0
        while try splitter.nextRange() != nil {
            splitter.append(part)
            lines += 1
        }
        #expect(lines == count)
    }
}
