#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct HeaderLinesTests {
        private func texts(_ lines: borrowing HeaderLines) -> [String] {
            var texts: [String] = []
            var node = lines.list
            while let current = node {
                texts.append(String(cString: current.pointee.data))
                node = current.pointee.next
            }
            return texts
        }

        private func line(_ name: String, _ value: String) -> String? {
            var lines = HeaderLines()
            lines.begin(size: name.utf8.count + value.utf8.count, lines: 1)
            lines.add(name, value)
            return texts(lines).first
        }

        @Test("A field is one line; an empty one is written so that libcurl keeps it")
        func field() {
            #expect(line("Name", "value") == "Name: value")
            #expect(line("Name", "") == "Name;")
            #expect(line("Name", " \t ") == "Name;")
            #expect(line("Name", " \t a \t b\t ") == "Name: a \t b")
            #expect(line("Name", "ä: ;") == "Name: ä: ;")
        }

        @Test("Octets that aren't UTF-8 are sent as they came, and what follows them is whole")
        func octets() throws {
            var lines = HeaderLines()
            lines.begin(size: 100, lines: 3)
            for value in [" \(OpaqueOctets.text([0xE9, 0x80])) ", "é\u{E01EE}\u{E01EF}", ""] { lines.add("A", value) }
            #expect(texts(lines).dropFirst() == ["A: é\u{E01EE}\u{E01EF}", "A;"])
            let first = try #require(lines.list?.pointee.data)
            #expect((0..<6).map { UInt8(bitPattern: first[$0]) } == Array("A: ".utf8) + [0xE9, 0x80, 0])
        }

        @Test("No line is no list, and a list begins anew")
        func lists() {
            var lines = HeaderLines()
            #expect(texts(lines) == [])
            lines.begin(size: 100, lines: 3)
            #expect(lines.list == nil)
            lines.add("A", "1")
            lines.leaveOut("Content-Type")
            lines.add("B", "")
            #expect(texts(lines) == ["A: 1", "Content-Type:", "B;"])
            lines.begin(size: 100, lines: 1)
            #expect(lines.list == nil)
            lines.add("C", "2")
            #expect(texts(lines) == ["C: 2"])
        }

        @Test("The memory grows to what is needed", arguments: [1, 15, 16, 17, 1_000, 20_000])
        func growth(count: Int) {
            var lines = HeaderLines()
            // Twice, the second time with the memory of the first.
            for round in 0..<2 {
                let fields = (0..<count).map { ("X-\($0)", String(repeating: "v", count: ($0 + round) % 40)) }
                lines.begin(size: fields.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }, lines: count)
                for (name, value) in fields { lines.add(name, value) }
                #expect(texts(lines) == fields.map { $0.1.isEmpty ? "\($0.0);" : "\($0.0): \($0.1)" })
            }
        }

        @Test("A value may be as long as it likes")
        func longValue() {
            let value = String(repeating: "a b", count: 400_000)
            #expect(line("X", value) == "X: " + value)
            #expect(line("X", String(repeating: " ", count: 100_000)) == "X;")
        }

        @Test("The longest field arrives whole, and a head that not every libcurl sends is refused")
        func long() async throws {
            let server = try LoopbackServer { request in
                .text(String(request.headers.first { $0.name == "X-0" }?.value.utf8.count ?? 0))
            }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            let value = String(repeating: "v", count: HTTPGrammar.longestFieldValue)
            var endpoint = server.endpoint("/")
            endpoint.headerItems = [HeaderItem(name: "X-0", value: value)]
            #expect(await atom.outcome(of: endpoint).text == "102400")
            endpoint.headerItems = (0..<2).map { HeaderItem(name: "X-\($0)", value: value) }
            let error = await atom.outcome(of: endpoint).error
            #expect(error?.delivery == .notSent)
            #expect("\(try #require(error))".contains("head of the request is larger than 125 KiB"))
            #expect(server.requestCount == 1)
        }
    }
#endif
