import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct OpaqueOctetsTests {
    private static func latin1(_ text: String) -> Data { Data(text.unicodeScalars.map { UInt8($0.value) }) }

    @Test("Each octet comes back as it was, and is read as ISO 8859-1")
    func everyOctet() {
        let octets = (0...255).map { UInt8($0) }
        let text = OpaqueOctets.text(octets)
        #expect(OpaqueOctets.octets(of: text) == octets)
        #expect(text.unicodeScalars.filter { $0 != "\u{E01EF}" }.map(\.value) == [UInt32](0...255))
        // The mark is part of the character before it, and no letter more.
        #expect(OpaqueOctets.text([0x63, 0xE9]).count == 2)
        #expect(OpaqueOctets.text([0xE8]) != OpaqueOctets.text([0xE9]) && OpaqueOctets.text([0xE9]) != "é")
    }

    @Test(
        "Any other text stands for its UTF-8",
        arguments: ["", "a", "é", "\u{E01EF}", "a\u{E01EF}", "中\u{E01EF}", "é\u{E01EE}", "é\u{301}\u{E01EF}", "🛫"])
    func otherText(_ text: String) {
        #expect(OpaqueOctets.octets(of: text) == Array(text.utf8))
        let around = text + OpaqueOctets.text([0xFF]) + text
        #expect(OpaqueOctets.octets(of: around) == Array(text.utf8) + [0xFF] + Array(text.utf8))
    }

    @Test("A URL keeps the octets that a server has sent", arguments: [0x80, 0x9F, 0xA0, 0xE9, 0xFF] as [UInt8])
    func url(octet: UInt8) throws {
        let (text, code) = (OpaqueOctets.text([octet]), "%" + String(octet, radix: 16, uppercase: true))
        let base = "http://a.example/b/"
        let response = AtomResponse(statusCode: 201, url: URL(string: base))
        for (reference, path) in [
            ("x\(text)é?q=\(text)", "x\(code)%C3%A9?q=\(code)"), ("\(text)x", "\(code)x"), (" x\(text) ", "x\(code)"),
        ] {
            #expect(try LinkedEndpoint(reference, in: response).target.absoluteString == base + path)
        }
    }

    @Test("A cookie may have 4,096 octets, and its line 8,190, whatever they are")
    func longCookies() throws {
        let address = CookieAddress("https://a.example/")
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func cookie(_ name: String, _ count: Int) -> Cookie? {
            let value = OpaqueOctets.text(repeatElement(0xE9, count: count))
            return Cookie("\(name)=\(value)", from: address, at: now)
        }
        #expect(cookie("a", 4_096) == nil)
        var jar = CookieJar()
        for name in ["a", "b", "c"] { jar.keep(try #require(cookie(name, 4_000)), from: address, at: now) }
        let sent = jar.field(for: address, at: now)
        let field = try #require(sent)
        #expect(OpaqueOctets.octets(of: field).count == 2 * 4_002 + 2)
    }

    #if os(Linux)
        @Test("A redirect, a cookie and an entity tag come back to the server as they were")
        func sentBack() async throws {
            let heads = Locked<[Data]>([])
            let server = try ByteServer { line in
                let head = line.readOctets()
                heads.with { $0.append(head) }
                let isFirst = head.starts(with: "GET /first".utf8)
                let start = isFirst ? "302 Found\r\nLocation: /caf\u{E9}?q=\u{C3}" : "200 OK"
                line.write(
                    Self.latin1(
                        """
                        HTTP/1.1 \(start)\r\nConnection: close\r\nContent-Length: 0\r\n\
                        Set-Cookie: name=Ren\u{E9}; Path=/\r\nETag: "\u{9B}\u{FF}"\r\n\r\n
                        """))
                return .close
            }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            var endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/first")
            let response = await atom.outcome(of: endpoint).response
            let tag = try #require(response?.headerFields["ETag"])
            #expect(response?.url?.absoluteString.hasSuffix("/caf%E9?q=%C3") == true)
            endpoint.rawPath = "/last"
            endpoint.headerItems = [HeaderItem(name: "If-None-Match", value: tag), HeaderItem(name: "X", value: "é")]
            #expect(await atom.outcome(of: endpoint).response?.statusCode == 200)
            let lines = heads.value.map { $0.split(separator: 0x0A).map { Data($0.dropLast()) } }
            #expect(lines.count == 3)
            #expect(lines.dropFirst().first?.first == Data("GET /caf%E9?q=%C3 HTTP/1.1".utf8))
            #expect(lines.dropFirst().allSatisfy { $0.contains(Self.latin1("Cookie: name=Ren\u{E9}")) })
            #expect(lines.last?.contains(Self.latin1("If-None-Match: \"\u{9B}\u{FF}\"")) == true)
            #expect(lines.last?.contains(Data("X: é".utf8)) == true)
        }

        @Test("A download goes on if the entity tag has the same octets", arguments: ["ISO 8859-1", "UTF-8", "other"])
        func resumed(tags: String) async throws {
            let folder = try TransferFolder()
            let file = try folder.file("a")
            let content = Data((0..<100_000).map { UInt8($0 % 251) })
            let heads = Locked<[Data]>([])
            let server = try ByteServer { line in
                let head = line.readOctets()
                let count = heads.with { heads in
                    heads.append(head)
                    return heads.count
                }
                let isRest = head.range(of: Data("\r\nRange: ".utf8)) != nil
                // What Swift takes for the same text has other octets.
                let text = tags == "other" && isRest ? "e\u{301}" : "\u{E9}"
                let tag = tags == "ISO 8859-1" ? Self.latin1(text) : Data(text.utf8)
                let start = isRest ? 40_000 - Int(FileDownload.overlap) : 0
                line.write(
                    Self.latin1(
                        """
                        HTTP/1.1 \(isRest ? 206 : 200) OK\r\nConnection: close\r\n\
                        Content-Length: \(content.count - start)\r\n\
                        Content-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\nETag: "
                        """))
                line.write(tag)
                line.write("\"\r\n\r\n")
                line.write(count == 1 ? content.prefix(40_000) : content.dropFirst(start))
                return .close
            }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            let endpoint = WireEndpoint(host: "127.0.0.1", port: server.port, rawPath: "/f")
            await #expect(throws: AtomError.self) {
                try await atom.enqueue(endpoint).download(to: file, isResumable: true)
            }
            try await atom.enqueue(endpoint).download(to: file, isResumable: true)
            #expect(try Data(contentsOf: file) == content)
            let field = "\r\nIf-Range: \"\u{E9}\"\r\n"
            #expect(heads.value[1].range(of: tags == "ISO 8859-1" ? Self.latin1(field) : Data(field.utf8)) != nil)
            #expect(heads.value.count == (tags == "other" ? 3 : 2))
        }
    #endif
}
