import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct TransferTests {
    private func crc32(_ data: Data) -> String {
        var checksum = CRC32()
        checksum.update(with: data)
        return checksum.description
    }

    // MARK: Uploads

    @Test func anUploadIsCountedAndSummed() async throws {
        try await withServer { _, client in
            let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let answer = try await client.send("PUT", "/uploads", headers: ["Content-Type": "image/png"], body: body)
            #expect(answer.status == 200)
            #expect(try answer.json()["bytes"] as? Int == 200_000)
            #expect(try answer.text("crc32") == crc32(body))
            #expect(try answer.text("contentType") == "image/png")
            #expect(try answer.json()["parts"] == nil)
        }
    }

    @Test func anUploadMayBeLargerThanAnyOtherBody() async throws {
        var configuration = ServerConfiguration()
        configuration.bodyLimit = 1000
        try await withServer(configuration) { _, client in
            #expect(try await client.post("/bookings", json: String(repeating: " ", count: 2000)).status == 413)
            let answer = try await client.send("POST", "/uploads", body: Data(count: 2000))
            #expect(try answer.json()["bytes"] as? Int == 2000)
        }
    }

    @Test func thePartsOfAFormAreListed() async throws {
        try await withServer { _, client in
            let body = """
                --b\r\nContent-Disposition: form-data; name="seat"\r\n\r\n12A\r\n\
                --b\r\nContent-Disposition: form-data; name="passport"; filename="p.png"\r\n\
                Content-Type: image/png\r\n\r\n1\r\n\r\n2\r\n--b--\r\n
                """
            let answer = try await client.send(
                "POST", "/uploads", headers: ["Content-Type": "multipart/form-data; boundary=b"], body: Data(body.utf8))
            let parts = try #require(try answer.json()["parts"] as? [[String: Any]])
            #expect(parts.map { $0["name"] as? String } == ["seat", "passport"])
            #expect(parts.map { $0["fileName"] as? String } == [nil, "p.png"])
            #expect(parts.map { $0["contentType"] as? String } == [nil, "image/png"])
            #expect(parts.map { $0["crc32"] as? String } == [crc32(Data("12A".utf8)), crc32(Data("1\r\n\r\n2".utf8))])
            let broken = try await client.send(
                "POST", "/uploads", headers: ["Content-Type": "multipart/form-data; boundary=c"], body: Data(body.utf8))
            #expect(try broken.text("code") == "malformed_form")
        }
    }

    // MARK: Downloads

    private func part(
        _ range: String, ifRange: String? = nil, size: Int = 100_000, _ client: AirlineClient
    ) async throws -> Answer {
        var headers = ["Range": range]
        headers["If-Range"] = ifRange
        return try await client.send("GET", "/downloads/\(size)", headers: headers)
    }

    @Test func aFileHasAStrongTagAndRanges() async throws {
        try await withServer { _, client in
            let whole = try await client.get("/downloads/100000")
            #expect(whole.status == 200)
            #expect(whole.body.count == 100_000)
            #expect(whole.header("Accept-Ranges") == "bytes")
            let tag = try #require(whole.header("ETag"))
            #expect(tag.hasPrefix("\""))

            let rest = try await part("bytes=70000-", ifRange: tag, client)
            #expect(rest.status == 206)
            #expect(rest.header("Content-Range") == "bytes 70000-99999/100000")
            #expect(rest.header("ETag") == tag)
            #expect(rest.body == whole.body[70_000...])
            #expect(try await part("bytes=10-19", client).body == whole.body[10...19])
            #expect(try await part("bytes=-5", client).body == whole.body.suffix(5))
            #expect(try await part("bytes=99990-200000", client).header("Content-Range") == "bytes 99990-99999/100000")
        }
    }

    @Test func aRangeMayBeIgnoredOrRefused() async throws {
        try await withServer { server, client in
            let refused = try await part("bytes=100000-", client)
            #expect(refused.status == 416)
            #expect(refused.header("Content-Range") == "bytes */100000")
            #expect(try await part("bytes=0-1,5-6", client).status == 200)
            #expect(try await part("bytes=9-1", client).status == 200)
            #expect(try await part("lines=1-2", client).status == 200)
            #expect(try await part("bytes=5-", ifRange: "\"other\"", client).status == 200)
            #expect(try await part("bytes=0-", size: 0, client).status == 416)
            #expect(try await client.get("/downloads/-1").status == 422)

            let old = try await client.get("/downloads/1000")
            server.updateTransferFaults { $0.fileVersion = 2 }
            let new = try await client.get("/downloads/1000")
            #expect(old.header("ETag") != new.header("ETag"))
            #expect(old.body != new.body)
        }
    }

    @Test func oneDownloadIsCut() async throws {
        try await withServer { server, client in
            server.updateTransferFaults { $0.cutDownloadAt = 50_000 }
            _ = try await part("bytes=60000-", client)
            #expect(server.transferFaults.cutDownloadAt == 50_000)
            await #expect(throws: (any Error).self) { try await client.get("/downloads/100000") }
            #expect(server.transferFaults.cutDownloadAt == nil)
            #expect(try await client.get("/downloads/100000").body.count == 100_000)
        }
    }

    @Test func theSwitchesAreReachableOverHTTP() async throws {
        try await withServer { server, client in
            let answer = try await client.post("/admin/transfers", json: #"{"bytesPerSecond": 1000000}"#)
            #expect(answer.status == 200)
            #expect(server.transferFaults.bytesPerSecond == 1_000_000)
            #expect(try await client.get("/admin/transfers").json()["fileVersion"] as? Int == 1)
            #expect(try await client.post("/admin/transfers", json: #"{"speed": 1}"#).status == 422)
        }
    }
}

@Suite struct CRC32Tests {
    @Test func theChecksumIsTheOneOfZip() {
        var checksum = CRC32()
        #expect(checksum.description == "00000000")
        checksum.update(with: "12345".utf8)
        checksum.update(with: "6789".utf8)
        #expect(checksum.value == 0xCBF4_3926)
        #expect(checksum.description == "cbf43926")
    }
}
