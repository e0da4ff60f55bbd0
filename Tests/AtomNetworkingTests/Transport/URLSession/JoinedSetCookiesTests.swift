import Testing

@testable import AtomNetworking

@Suite(.limited) struct JoinedSetCookiesTests {
    @Test(
        "Lines that Foundation joined are taken apart",
        arguments: [
            ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1,b=2"]),
            ("a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2", ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2"]),
            (
                "a=1; Expires=Wed, 21-Oct-37 07:28:00 GMT; Path=/, b=2; Path=/",
                [
                    "a=1; Expires=Wed, 21-Oct-37 07:28:00 GMT; Path=/", "b=2; Path=/",
                ]
            ),
            ("a=1   , b=2", ["a=1   ", "b=2"]), ("a=1,, b=2", ["a=1,", "b=2"]), ("a=, b=", ["a=", "b="]),
            ("a=x,y, b=2", ["a=x,y", "b=2"]), ("a, b=2", ["a", "b=2"]), ("a= 1, b=2", ["a= 1", "b=2"]),
            ("a=1; Path=/x y, b=2", ["a=1; Path=/x y", "b=2"]), ("a=b=c, d=e", ["a=b=c", "d=e"]),
            ("", [""]), (", =", [", ="]), (", a=", ["", "a="]), ("a=1, ", ["a=1, "]), ("a=1,", ["a=1,"]),
        ])
    func takenApart(joined: String, lines: [String]) {
        #expect(JoinedSetCookies.lines(in: joined) == lines)
    }

    @Test(
        "A comma in a text doesn't end a line",
        arguments: [
            "pref=chosen by a user, session=EVIL", "pref=\"1, session=EVIL\"; Path=/", "pref=\"1, session=EVIL\"",
            "pref=a b, c d, session=EVIL; Path=/", "a=1, Wed b=2",
        ])
    func oneLine(line: String) {
        #expect(JoinedSetCookies.lines(in: line) == [line])
    }

    @Test func afterAValueInQuotesALineMayEnd() {
        #expect(JoinedSetCookies.lines(in: "a=\"1, 2\", b=2") == ["a=\"1, 2\"", "b=2"])
        // Two lines with one quote each.
        #expect(JoinedSetCookies.lines(in: "a=\"1, b=2\"x") == ["a=\"1", "b=2\"x"])
    }

    @Test(
        "Each octet is read a few times at most, whatever a server sends",
        arguments: ["", "a=1", "a=1;"],
        [", ", ", b", ", b=", ",", "=", "a=\"", "a=\", ", "; ", ", tokentoken", ", é", " ", "\"", ", \"=", "a=b c, "])
    func linear(start: String, piece: String) {
        let bytes = Array((start + String(repeating: piece, count: 2_000) + "=").utf8)
        let reads = Locked(0)
        _ = JoinedSetCookies.lines(in: CountedBytes(bytes: bytes, reads: reads))
        #expect(reads.value <= 8 * bytes.count)
    }
}

/// Counts how often each byte is read.
private struct CountedBytes: RandomAccessCollection {
    let bytes: [UInt8]
    let reads: Locked<Int>

    var startIndex: Int { bytes.startIndex }
    var endIndex: Int { bytes.endIndex }
    subscript(position: Int) -> UInt8 {
        reads.with { $0 += 1 }
        return bytes[position]
    }
}
