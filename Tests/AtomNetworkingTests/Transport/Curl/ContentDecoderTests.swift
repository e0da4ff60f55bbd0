#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct ContentDecoderTests {
        private static let text = Data("hello, world".utf8)

        private static func fields(_ coding: String) -> HeaderFields {
            HeaderFields([HeaderItem(name: "Content-Encoding", value: coding)])
        }

        /// Decodes parts of this size; `nil` if the content is invalid or has no end.
        private func decoded(_ coding: String, _ bytes: Data, size: Int = .max) throws -> Data? {
            let decoder = try #require(ContentDecoder(Self.fields(coding)))
            var content = Data()
            do {
                var rest = bytes[...]
                while !rest.isEmpty {
                    decoder.take(Data(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                    while let part = try decoder.next() { content += part }
                }
            } catch {
                return nil
            }
            return decoder.isComplete ? content : nil
        }

        @Test("Each coding is decoded, in parts of any size", arguments: [1, 2, 3, 7, .max])
        func codings(size: Int) throws {
            let gzip = Deflate.gzip(Self.text)
            let raw = gzip.dropFirst(10).dropLast(8)
            #expect(try decoded("gzip", gzip, size: size) == Self.text)
            #expect(try decoded("X-GZIP", gzip, size: size) == Self.text)
            #expect(try decoded("identity, gzip", gzip, size: size) == Self.text)
            #expect(try decoded("deflate", Data(raw), size: size) == Self.text, "without head and end")
            #expect(try decoded("gzip, gzip", Deflate.gzip(gzip), size: size) == Self.text)
            #expect(try decoded("deflate, gzip", Deflate.gzip(Data(raw)), size: size) == Self.text)
        }

        @Test("Several members are one content (RFC 1952 §2.2)", arguments: [1, .max])
        func members(size: Int) throws {
            let two = Deflate.gzip(Self.text) + Deflate.gzip(Self.text)
            #expect(try decoded("gzip", two, size: size) == Self.text + Self.text)
        }

        @Test("A part full of tiny members is decoded in few parts")
        func manyMembers() throws {
            let member = Deflate.gzip(Data("x".utf8))
            let decoder = try #require(ContentDecoder(Self.fields("gzip")))
            decoder.take(Data((0..<3_000).flatMap { $0 % 2 == 0 ? member : Deflate.gzip(Data()) }))
            let first = try decoder.next()
            #expect(first == Data(repeating: UInt8(ascii: "x"), count: 1_500))
            #expect(try decoder.next() == nil && decoder.isComplete)
        }

        @Test("What is cut off is not complete, at every octet")
        func cutOff() throws {
            let gzip = Deflate.gzip(Self.text)
            for count in 1..<gzip.count { #expect(try decoded("gzip", gzip.prefix(count)) == nil, "\(count)") }
            let two = gzip + gzip
            for count in (gzip.count + 1)..<two.count {
                #expect(try decoded("gzip", two.prefix(count)) == nil, "\(count)")
            }
            let raw = Data(gzip.dropFirst(10).dropLast(8))
            for count in 1..<raw.count { #expect(try decoded("deflate", raw.prefix(count)) == nil, "\(count)") }
        }

        @Test("No body is no content")
        func empty() throws { #expect(try decoded("gzip", Data()) == Data()) }

        @Test("What follows the end, or is something else, is an error")
        func invalid() throws {
            let gzip = Deflate.gzip(Self.text)
            #expect(try decoded("gzip", gzip + Data("garbage".utf8)) == nil)
            #expect(try decoded("deflate", gzip.dropFirst(10).dropLast(8) + Data([1, 2])) == nil)
            #expect(try decoded("gzip", Self.text) == nil)
        }

        @Test(
            "An unknown coding, or too many, are left to the app",
            arguments: [
                "br", "utf-8", "aws-chunked, gzip", "", "identity",
                Array(repeating: "gzip", count: 3).joined(separator: ","),
            ])
        func unknown(coding: String) {
            #expect(ContentDecoder(Self.fields(coding)) == nil)
        }

        @Test("Large content comes in bounded parts")
        func bounded() throws {
            let decoder = try #require(ContentDecoder(Self.fields("gzip")))
            decoder.take(Deflate.gzip(Data(count: 1 << 20)))
            var sizes: [Int] = []
            while let part = try decoder.next() { sizes.append(part.count) }
            #expect(sizes.reduce(0, +) == 1 << 20 && sizes.allSatisfy { $0 <= 64 << 10 })
            #expect(decoder.isComplete)
        }

        @Test("Members without content are decoded step by step, so that it can be ended")
        func emptyMembers() throws {
            let decoder = try #require(ContentDecoder(Self.fields("gzip, gzip")))
            let body = Deflate.emptyMembers(20_000)
            decoder.take(body)
            var steps = 0
            while let part = try decoder.next() {
                #expect(part.isEmpty)
                steps += 1
            }
            // What comes of a step of the outer coding is at most 64 KiB.
            #expect(steps > 20_000 * 258 / (64 << 10) && !decoder.isComplete)
        }

        @Test("An exchange that decodes without end can be cancelled, and nothing is left of it")
        func emptyMembersAreCancelled() async throws {
            let server = try LoopbackServer { _ in
                .status(
                    200, headers: [("Content-Encoding", "gzip, gzip")], body: Deflate.emptyMembers(1_000_000))
            }
            defer { server.stop() }
            let hasBegun = Signal()
            let recorder = EventRecorder()
            let transport = try CurlTransport()
            weak var left: CurlExchange?
            do {
                let exchange = transport.start(try .to(server)) { event in
                    recorder.receive(event)
                    if case .response = event { hasBegun.raise() }
                }
                left = exchange as? CurlExchange
                await hasBegun.wait()
                exchange.cancel()
            }
            #expect(await eventually { left == nil })
            // A machine that is busy may have decoded all before.
            #expect(recorder.urlError != nil && recorder.body.isEmpty, "\(recorder.events)")
        }

        @Test("A body that ends within its coding is an error on the wire")
        func cutOffOnTheWire() async throws {
            let gzip = Deflate.gzip(Self.text)
            let server = try LoopbackServer { request in
                // The length is that of what is sent.
                request.path == "/cut"
                    ? .status(200, headers: [("Content-Encoding", "gzip")], body: gzip.dropLast())
                    : .status(200, headers: [("Content-Encoding", "gzip")], body: gzip)
            }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            #expect(await atom.outcome(of: server.endpoint("/cut")).urlError?.code == .networkConnectionLost)
            #expect(await atom.outcome(of: server.endpoint("/whole")).text == "hello, world")
        }

        @Test("A reader that is behind holds the decoding back")
        func heldBack() async throws {
            let server = try LoopbackServer { _ in
                .status(200, headers: [("Content-Encoding", "gzip")], body: Deflate.gzip(Data(count: 1 << 20)))
            }
            defer { server.stop() }
            let received = Locked(0)
            let holder = Locked<(any TransportExchange)?>(nil)
            let (isHeld, hasEnded) = (Signal(), Signal())
            let started = DispatchSemaphore(value: 0)
            let transport = try CurlTransport()
            let exchange = transport.start(try .to(server)) { event in
                switch event {
                case .response: started.wait()
                case .data(let data):
                    let isFirst = received.with { count in
                        defer { count += data.count }
                        return count == 0
                    }
                    if isFirst {
                        _ = holder.value?.pause()
                        isHeld.raise()
                    }
                case .finished, .failed: hasEnded.raise()
                case .sent, .measured: break
                }
            }
            holder.with { $0 = exchange }
            started.signal()
            await isHeld.wait()
            // Another exchange passes meanwhile.
            #expect(await transport.run(try .to(server)).body.count == 1 << 20)
            #expect(received.value <= 64 << 10)
            exchange.resume()
            await hasEnded.wait()
            #expect(received.value == 1 << 20)
        }
    }
#endif
