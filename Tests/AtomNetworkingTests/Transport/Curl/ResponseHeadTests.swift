#if os(Linux)
    import Foundation
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct ResponseHeadTests {
        /// Hands over the lines as libcurl does, each with its end.
        private func take(_ text: Data, into head: inout ResponseHead) -> [ResponseHead.Progress] {
            var progress: [ResponseHead.Progress] = []
            var rest = Array(text)[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                progress.append(Array(rest[...end]).withUnsafeBufferPointer { head.take($0) })
                rest = rest[(end + 1)...]
            }
            return progress
        }

        private func take(_ text: String, into head: inout ResponseHead) -> [ResponseHead.Progress] {
            take(Data(text.utf8), into: &head)
        }

        private func taken(from head: inout ResponseHead) -> [String] {
            head.takeFields().map { "\($0.name)=\($0.value)" }
        }

        private func fields(_ lines: String) -> [String]? {
            var head = ResponseHead()
            let progress = take("HTTP/1.1 200 OK\r\n" + lines + "\r\n", into: &head)
            return progress.contains(.invalid) ? nil : taken(from: &head)
        }

        @Test(
            "A status line is a version and three digits",
            arguments: [
                ("HTTP/1.1 200 OK", 200), ("HTTP/1.1 204", 204), ("HTTP/1.1 404 ", 404), ("HTTP/1.0 599 X", 599),
                ("HTTP/1.1  200 OK", 200), ("HTTP/2 200", 200), ("HTTP/2 200 ", 200), ("HTTP/3 999 X", 999),
                ("HTTP/1.1 200 \u{FF}", 200),
            ])
        func statusLine(line: String, status: Int) {
            var head = ResponseHead()
            #expect(take(line + "\r\n", into: &head) == [.incomplete])
            #expect(head.statusCode == status && head.isWithin && !head.isComplete)
            #expect(head.isHTTP2 == line.hasPrefix("HTTP/2"))
            #expect(take("\r\n", into: &head) == [.complete])
            #expect(head.isComplete && !head.isWithin)
        }

        @Test(
            "Anything else is no status line",
            arguments: [
                "", "HTTP", "HTTP/", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 2", "HTTP/1.1 20", "HTTP/1.1 2000",
                "HTTP/1.1 099",
                "HTTP/1.1 000", "HTTP/1.1 -20", "HTTP/1.1 +20", "HTTP/1.1 2x0", "HTTP/1.1\t200", "HTTP/x 200",
                "HTTP/11 200",
                "HTTP/1. 200", "HTTP/1.x 200", "HTTP/TP/1t1 103", "http/1.1 200", " HTTP/1.1 200", "ICY 200 OK",
                "HTTP 200", "HTTP/1.1 200 a\rb", "HTTP/1.1 200 a\0b",
            ])
        func noStatusLine(line: String) {
            var head = ResponseHead()
            #expect(take(line + "\r\n", into: &head) == [.invalid])
        }

        @Test("Interim heads are passed over, and only the last one counts")
        func interim() {
            var head = ResponseHead()
            let first = take("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", into: &head)
            #expect(Set(first.map { $0 == .incomplete }) == [true])
            #expect(!head.isComplete && !head.isWithin)
            #expect(take("HTTP/1.1 201 Created\r\nA: b\r\n\r\n", into: &head).last == .complete)
            #expect(head.statusCode == 201)
            #expect(taken(from: &head) == ["A=b"])
        }

        @Test("A 101 is refused, for nothing asked for it")
        func switching() {
            var head = ResponseHead()
            #expect(take("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", into: &head).last == .invalid)
            #expect(!head.isComplete)
        }

        @Test("A line without its end is none, for the connection ended in it", arguments: ["\r", "X", "X: y\r", ""])
        func unfinished(line: String) {
            var head = ResponseHead()
            _ = take("HTTP/1.1 200 OK\r\nA: b\r\n", into: &head)
            #expect(Array(line.utf8).withUnsafeBufferPointer { head.take($0) } == .incomplete)
            #expect(!head.isComplete && taken(from: &head) == ["A=b"])
        }

        @Test(
            "What says how long a body is has one meaning, or the head is refused",
            arguments: [
                ("Content-Length: 5", true), ("content-length:5", true), ("Content-Length: 5, 5", true),
                ("Content-Length: 5\r\nContent-Length: 5", true), ("Content-Length: 0005", true),
                ("Content-Length: 9223372036854775807", true),
                ("Content-Length: 5, 6", false), ("Content-Length: 44\r\nContent-Length: 6", false),
                ("Content-Length: +5", false), ("Content-Length: -5", false), ("Content-Length: 0x5", false),
                ("Content-Length: 5abc", false), ("Content-Length:", false), ("Content-Length: 5,", false),
                ("Content-Length: 5 5", false), ("Content-Length: 9223372036854775808", false),
                ("Content-Length : 5", false), ("Content-Length: 5\r\n 5", false), ("Content-Length:\r\n 5", false),
                ("Transfer-Encoding: chunked", true), ("transfer-encoding: Chunked", true),
                ("Transfer-Encoding: gzip, chunked", false), ("Transfer-Encoding: chunked, gzip", false),
                ("Transfer-Encoding: gzip", false), ("Transfer-Encoding: identity", true),
                ("Transfer-Encoding: Identity \r\nX: y", true), ("Transfer-Encoding: identity, identity", false),
                ("Transfer-Encoding: identity\r\nTransfer-Encoding: identity", false),
                ("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", false),
                ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", false),
                ("Transfer-Encoding: identity\r\nContent-Length: 5", false),
                ("Content-Length: 5\r\nTransfer-Encoding: identity", false),
                ("Transfer-Encoding: chunked\r\nContent-Length: 5", true),
                ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", false),
                ("Transfer-Encoding : chunked", false), ("Transfer-Encoding:\r\n chunked", false),
                ("Content-Encoding : gzip", false), ("Content-Encoding: gzip\r\n , gzip", false),
                ("Content-Encoding: gzip", true), ("Content-Encoding: aws-chunked", true),
                ("X-Content-Length: 5abc", true), ("Content-Lengths: x", true),
                ("A: b\rc", false), ("A: b\0c", false), ("A: b\r", false),
            ])
        func framing(lines: String, isAccepted: Bool) {
            #expect((fields(lines + "\r\n") != nil) == isAccepted)
        }

        @Test(
            "Equal lengths are one, in digits",
            arguments: ["5, 5", "5\r\nContent-Length: 5", "5 ,5\r\ncontent-length: 05, 5", "0005"])
        func equalLengths(value: String) {
            #expect(fields("A: b\r\nContent-Length: \(value)\r\nC: d\r\n\r\n") == ["A=b", "Content-Length=5", "C=d"])
        }

        @Test("HTTP/1.0 has no transfer codings, and no interim head decides for the next")
        func versionOfTransferCoding() {
            for (version, isAccepted) in [("1.0", false), ("1.1", true)] {
                var head = ResponseHead()
                _ = take("HTTP/1.0 103 Early Hints\r\n\r\n", into: &head)
                let steps = take("HTTP/\(version) 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", into: &head)
                #expect(steps.contains(.invalid) != isAccepted)
            }
        }

        @Test("A body that is coded as identity ends with its connection, and that of no other head")
        func identity() {
            var head = ResponseHead()
            #expect(!head.hasStatus)
            _ = take("HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: identity\r\n", into: &head)
            #expect(head.endsWithConnection && !head.hasStatus)
            _ = take("\r\nHTTP/1.1 200 OK\r\n", into: &head)
            #expect(!head.endsWithConnection && head.hasStatus)
            _ = take("Transfer-Encoding: identity\r\n\r\n", into: &head)
            #expect(head.endsWithConnection && head.hasStatus && head.isComplete)
            head.reset()
            #expect(!head.endsWithConnection && !head.hasStatus)
        }

        @Test("The fault is that of this head, and of none before")
        func fault() {
            var head = ResponseHead()
            _ = take("HTTP/1.1 200 OK\r\nContent-Length: x\r\n", into: &head)
            #expect(head.fault == "Content-Length is not one number")
            head.reset()
            _ = take("HTTP/1.1 200 OK\r\nx\r\n", into: &head)
            #expect(head.fault == "a line is not a header field")
        }

        @Test("A length of an interim head is not that of the response")
        func interimLength() {
            var head = ResponseHead()
            _ = take("HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n", into: &head)
            #expect(take("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", into: &head).last == .complete)
        }

        @Test("Trailers come after the head and are not fields of it")
        func trailers() {
            var head = ResponseHead()
            _ = take("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", into: &head)
            #expect(take("X-Checksum: 1\r\nA: c\r\n\r\n", into: &head) == [.incomplete, .incomplete, .incomplete])
            #expect(head.isComplete)
            #expect(taken(from: &head) == ["A=b"])
        }

        @Test("Fields keep their order, their repeats and their spelling")
        func order() {
            #expect(fields("b: 1\r\nA: 2\r\nB: 3\r\n") == ["b=1", "A=2", "B=3"])
            #expect(fields("") == [])
        }

        @Test(
            "Whitespace around names and values is not part of them",
            arguments: [
                ("A:b\r\n", "A=b"), ("A: b\r\n", "A=b"), ("A: \t b \t \r\n", "A=b"), ("A : b\r\n", "A=b"),
                ("A:\r\n", "A="),
                ("A:  \r\n", "A="), ("A: b\n", "A=b"), ("A: b:c\r\n", "A=b:c"), ("A: b  c\r\n", "A=b  c"),
            ])
        func whitespace(line: String, field: String) {
            #expect(fields(line) == [field])
        }

        @Test("A folded line goes on with the value before it, after a space")
        func folded() {
            #expect(fields("A: b\r\n c\r\n\t d \r\nE: f\r\n") == ["A=b c d", "E=f"])
            #expect(fields("A:\r\n c\r\n") == ["A=c"])
        }

        @Test(
            "A line that is no field makes the head invalid", arguments: ["no colon\r\n", ": empty\r\n", " first\r\n"])
        func invalid(line: String) {
            #expect(fields(line) == nil)
            #expect(fields("A: b\r\n" + line) == nil || line.hasPrefix(" "))
        }

        @Test("A line that begins with a carriage return is invalid, since libcurl ends the head there")
        func bareReturn() {
            var head = ResponseHead()
            #expect(take("HTTP/1.1 200 OK\r\n\rA: b\r\n", into: &head) == [.incomplete, .invalid])
        }

        @Test("Lines may end with a line feed alone")
        func lineFeeds() {
            var head = ResponseHead()
            #expect(take("HTTP/1.1 200 OK\nA: b\n\n", into: &head) == [.incomplete, .incomplete, .complete])
            #expect(taken(from: &head) == ["A=b"])
        }

        @Test("Octets that aren't UTF-8 are kept")
        func encoding() {
            var head = ResponseHead()
            let lines: [[UInt8]] = [Array("A: x".utf8) + [0xFF, 0xC3], [0x20, 0x80], Array("B: ä".utf8), []]
            let bytes = lines.reduce(Data("HTTP/1.1 200 OK\r\n".utf8)) { $0 + Data($1) + Data("\r\n".utf8) }
            #expect(take(bytes, into: &head).last == .complete)
            let fields = taken(from: &head)
            #expect(fields.first.map(OpaqueOctets.octets) == Array("A=x".utf8) + [0xFF, 0xC3, 0x20, 0x80])
            #expect(fields.last == "B=ä")
        }

        @Test(
            "A body lasts to the end of the connection if nothing else says how long it is",
            arguments: [
                ("HTTP/1.1 200 OK\r\n", true), ("HTTP/1.0 404 X\r\n", true), ("HTTP/1.1 200 OK\r\nDate: x\r\n", true),
                ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", false), ("HTTP/1.1 204 X\r\n", false),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", false), ("HTTP/1.1 304 X\r\n", false),
                ("HTTP/2 200\r\n", false), ("HTTP/1.1 100 X\r\n\r\nHTTP/1.1 200 X\r\n", true),
                ("HTTP/1.1 103 X\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 X\r\n", true),
            ])
        func openEnd(lines: String, lasts: Bool) {
            var head = ResponseHead()
            #expect(take(lines + "\r\n", into: &head).last == .complete)
            #expect(head.lastsToTheEnd == lasts)
        }

        @Test("All heads and trailers of a response together have a largest size")
        func size() {
            let interim = "HTTP/1.1 100 Continue\r\n\r\n"
            let count = ResponseHead.maximumSize / interim.utf8.count
            var head = ResponseHead()
            let most = take(String(repeating: interim, count: count), into: &head)
            #expect(!most.contains(.tooLarge))
            #expect(take(String(repeating: interim, count: 2), into: &head).contains(.tooLarge))

            head.reset()
            _ = take("HTTP/1.1 200 OK\r\n\r\n", into: &head)
            let long = "A: " + String(repeating: "b", count: ResponseHead.maximumSize) + "\r\n"
            #expect(take(long, into: &head) == [.tooLarge])
            #expect(ResponseHead.maximumSize == 256 << 10)

            head.reset()
            let rest = ResponseHead.maximumSize - "HTTP/1.1 200 OK\r\n".utf8.count
            #expect(
                take("HTTP/1.1 200 OK\r\n" + "A:" + String(repeating: "b", count: rest - 3) + "\n", into: &head).last
                    == .incomplete)
            #expect(take("\n", into: &head) == [.tooLarge])
        }

        @Test("After a reset nothing of the head before is left")
        func reset() {
            var head = ResponseHead()
            _ = take("HTTP/2 404\r\nA: b\r\n\r\nT: u\r\n", into: &head)
            head.reset()
            #expect(!head.isComplete && !head.isWithin && !head.isHTTP2 && head.statusCode == 0)
            #expect(take("HTTP/1.1 200 OK\r\nC: d\r\n\r\n", into: &head).last == .complete)
            #expect(taken(from: &head) == ["C=d"])
            // Also in the middle of a head.
            head.reset()
            _ = take("HTTP/1.1 200 OK\r\nA: b\r\n", into: &head)
            head.reset()
            #expect(take("HTTP/1.1 204 No Content\r\n\r\n", into: &head) == [.incomplete, .complete])
            #expect(taken(from: &head) == [])
        }
    }
#endif
