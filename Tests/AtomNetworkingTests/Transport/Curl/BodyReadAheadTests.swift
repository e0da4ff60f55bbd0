#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Glibc
    import Testing

    @testable import AtomNetworking

    @Suite("Bodies of files over libcurl", .limited(minutes: 10)) struct BodyReadAheadTests {
        private let folder: TransferFolder

        init() throws { folder = try TransferFolder() }

        /// Bytes that differ from place to place, and from seed to seed.
        private static func bytes(_ count: Int, seed: UInt64 = 0) -> Data {
            let words = (0..<(count / 8)).map { (UInt64($0) &+ seed) &* 0x9E37_79B9_7F4A_7C15 }
            return words.withUnsafeBytes { Data($0) }
        }

        /// A file that calls the closure before it is opened.
        private func file(
            _ name: String, _ content: Data, _ opens: @escaping @Sendable () -> Void = {}
        ) throws -> BodySegments.Segment {
            var file = try FileSegment(url: folder.file(name, content))
            file.open = { path in
                opens()
                return Descriptor(path, O_RDONLY, followsLink: true)
            }
            return .file(file)
        }

        private func request(_ port: Int, _ segments: [BodySegments.Segment]) throws -> TransportRequest {
            let target = try TransportRequest(
                base: BaseURL(scheme: .http, host: "127.0.0.1", port: port), path: URLPath("/up")
            ).target
            return TransportRequest(
                method: "PUT", target: target, headerFields: HeaderFields(),
                body: TransportBody(try BodySegments(segments)), idleTimeout: .seconds(600))
        }

        /// How many files of the folder this process has open.
        private static func openFiles(of folder: URL) -> Int {
            ThisProcess.entries("fd").count { number in
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return path?.hasPrefix(folder.path) ?? false
            }
        }

        @Test("While a disk stalls, other exchanges go on, and then the body arrives as it is")
        func otherExchanges() async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let (gate, isAsked) = (Gate(), Signal())
            defer { gate.open() }
            let (first, second) = (Self.bytes(1 << 20, seed: 1), Self.bytes(3 << 20, seed: 2))
            let segments = try [
                .data(Data("<".utf8)), file("a", first),
                file("b", second) {
                    isAsked.raise()
                    gate.wait()
                }, .data(Data(">".utf8)),
            ]
            let transport = try CurlTransport()
            let upload = transport.begin(try request(server.port, segments))
            await isAsked.wait()
            for _ in 0..<3 { #expect(await transport.run(try .to(server)).text == "here") }
            #expect(upload.recorder.terminals == 0)
            gate.open()
            let recorder = await upload.end()
            #expect(recorder.text == "here")
            #expect(recorder.violations == [])
            #expect(recorder.sent == first.count + second.count + 2)
            let body = server.requests.first { $0.method == "PUT" }?.body
            #expect(body == Data("<".utf8) + first + second + Data(">".utf8))
        }

        private struct Weak: Sendable {
            weak var exchange: CurlExchange?
        }

        @Test("An upload whose disk stalls is cancelled and released at once, and its file closed later")
        func cancellation() async throws {
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let (gate, isAsked) = (Gate(), Signal())
            defer { gate.open() }
            let segments = try [
                file("a", Self.bytes(1 << 20)) {
                    isAsked.raise()
                    gate.wait()
                }
            ]
            let transport = try CurlTransport()
            var upload: StartedExchange? = transport.begin(try request(server.port, segments))
            let exchange = Weak(exchange: upload?.exchange as? CurlExchange)
            await isAsked.wait()
            upload?.exchange.cancel()
            let recorder = await upload?.end()
            #expect(recorder?.urlError?.code == .cancelled)
            #expect(recorder?.violations == [])
            upload = nil
            #expect(await eventually { exchange.exchange == nil })
            #expect(await transport.run(try .to(server)).text == "here")
            gate.open()
            #expect(await eventually { Self.openFiles(of: folder.url) == 0 })
        }

        @Test("Two parts are read ahead, and not more", arguments: [1_000, 64 << 10, 100_000])
        func bound(bufferSize: Int) async throws {
            let parts = (0..<20).map { Self.bytes(64 << 10, seed: UInt64($0)) }
            let count = Locked((opened: 0, taken: 0, most: 0))
            let segments = try parts.enumerated().map { number, part in
                try file("\(number)", part) {
                    count.with { count in
                        count.opened += 1
                        count.most = max(count.most, count.opened - count.taken)
                    }
                }
            }
            let body = BodyReadAhead(TransportBody(try BodySegments(segments)))
            defer { body.close() }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 1)
            defer { buffer.deallocate() }
            var read = Data()
            var isOver = false
            while !isOver {
                let taken = read.count / (64 << 10)
                #expect(await eventually { count.value.opened == min(taken + 2, parts.count) })
                // Before, since the next one is begun within.
                if read.count % (64 << 10) + bufferSize >= 64 << 10 { count.with { $0.taken = taken + 1 } }
                let count = try body.read(into: buffer)
                read += buffer[..<(count ?? 0)]
                isOver = count == nil
                if count == 0 {
                    let isReadable = Signal()
                    body.whenReadable { isReadable.raise() }
                    await isReadable.wait()
                }
            }
            #expect(read == parts.reduce(Data(), +))
            #expect(count.value.most == 2)
        }

        @Test("A server that doesn't read holds the reading back, and gets everything")
        func slowServer() async throws {
            let parts = (0..<128).map { Self.bytes(128 << 10, seed: UInt64($0)) }
            let size = parts.count * (128 << 10)
            let (gate, received) = (Gate(), Locked(Data()))
            defer { gate.open() }
            let server = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 100 Continue\r\n\r\n")
                gate.wait()
                while received.value.count < size {
                    let part = line.read()
                    guard !part.isEmpty else { return .close }
                    received.with { $0 += part }
                }
                line.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return .close
            }
            defer { server.stop() }
            let opened = Locked(0)
            let segments = try parts.enumerated().map { number, part in
                try file("\(number)", part) { opened.with { $0 += 1 } }
            }
            let upload = try CurlTransport().begin(try request(server.port, segments))
            var before = -1
            #expect(
                await eventually {
                    defer { before = opened.value }
                    return before > 0 && opened.value == before
                })
            #expect(opened.value < parts.count)
            gate.open()
            let recorder = await upload.end()
            #expect(recorder.text == "ok")
            #expect(recorder.violations == [])
            #expect(recorder.sent == size)
            #expect(received.value == parts.reduce(Data(), +))
        }

        @Test("A file that shrinks while it is sent ends the upload with the reason")
        func shrinking() async throws {
            let content = Self.bytes(16 << 20)
            let segments = try [file("a", content)]
            let path = folder.url.appendingPathComponent("a").path
            let server = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 100 Continue\r\n\r\n")
                _ = line.read()
                truncate(path, 15 << 20)
                line.drain()
                return .close
            }
            defer { server.stop() }
            let recorder = try await CurlTransport().run(request(server.port, segments))
            guard case .transfer(let error)? = recorder.failure?.error as? AtomError else {
                Issue.record("\(String(describing: recorder.failure))")
                return
            }
            #expect(error.reason == .bodyLengthChanged)
            #expect(recorder.violations == [])
            #expect(recorder.sent < content.count)
        }

        @Test("Uploads that are cancelled at any time leave no file open", arguments: [UInt64(3), 4])
        func storm(seed: UInt64) async throws {
            var generator = SeededGenerator(seed: seed)
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let content = Self.bytes(1 << 19)
            let transport = try CurlTransport()
            let started = try (0..<60).map { number in
                transport.begin(try request(server.port, [file("\(number)", content), .data(Data("\(number)".utf8))]))
            }
            let cancelled = started.map { _ in Bool.random(using: &generator) }
            for (started, isCancelled) in zip(started, cancelled) where isCancelled {
                let spins = Int.random(in: 0..<20_000, using: &generator)
                DispatchQueue.global().async {
                    for _ in 0..<spins { _ = DispatchTime.now() }
                    started.exchange.cancel()
                }
            }
            for (started, isCancelled) in zip(started, cancelled) {
                let recorder = await started.end()
                #expect(recorder.violations == [])
                if !isCancelled { #expect(recorder.text == "here") }
            }
            #expect(server.requests.allSatisfy { $0.body.prefix(content.count) == content.prefix($0.body.count) })
            #expect(await eventually { Self.openFiles(of: folder.url) == 0 })
        }
    }
#endif
