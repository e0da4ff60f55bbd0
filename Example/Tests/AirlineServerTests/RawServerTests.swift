import AirlineServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct RawServerTests {
    private func get(_ path: String, from server: RawServer) async throws -> (Data, URLResponse) {
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)"))
        return try await URLSession(configuration: .ephemeral).data(from: url)
    }

    @Test func thePathChoosesTheBytes() async throws {
        let server = try await RawServer.start([
            "/one": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", "/all": "HTTP/1.0 418 X\r\n\r\nto the end",
        ])
        #expect(try await get("/one", from: server).0 == Data("1".utf8))
        let (body, response) = try await get("/all", from: server)
        #expect(body == Data("to the end".utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 418)
        await #expect(throws: URLError.self) { try await get("/none", from: server) }
        await server.stop()
        await #expect(throws: URLError.self) { try await get("/one", from: server) }
    }
}
