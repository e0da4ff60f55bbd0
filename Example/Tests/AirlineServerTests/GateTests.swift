import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct GateTests {
    @Test func announcementsAreNumberedEvents() async throws {
        try await withServer { _, client in
            let answer = try await client.get("/gates?count=4&milliseconds=1&retry=250")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "text/event-stream")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.hasPrefix("retry: 250\n"))
            #expect(ids(in: text) == ["1", "2", "3", "4"])
            #expect(text.contains("event: gate\ndata: {"))
            #expect(text.contains(#""flight":"AS100","gate":"C1","number":2,"status":"boarding""#))
        }
    }

    @Test func aClientGoesOnAfterItsLastAnnouncement() async throws {
        try await withServer { server, client in
            let rest = try await client.send(
                "GET", "/gates?count=4&milliseconds=1", headers: ["Last-Event-ID": "2"])
            #expect(ids(in: String(decoding: rest.body, as: UTF8.self)) == ["3", "4"])
            #expect(server.events().last?.detail == "after announcement 2")
            let end = try await client.send("GET", "/gates?count=4", headers: ["Last-Event-ID": "4"])
            #expect(end.status == 204)
        }
    }

    @Test func openStreamsCanBeEnded() async throws {
        try await withServer { server, client in
            let stream = Task { try await client.get("/gates?milliseconds=5") }
            while server.events().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            server.endStreams()
            #expect(try await stream.value.status == 200)
        }
    }

    @Test func anAccountsGatesNeedAToken() async throws {
        try await withServer { server, client in
            #expect(try await client.get("/account/gates?count=1").status == 401)
            let tokens = try await client.signIn()
            let answer = try await client.get("/account/gates?count=1&milliseconds=1", token: tokens.access)
            #expect(answer.status == 200)
            #expect(server.events().last?.token == 1)
        }
    }

    private func ids(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }
}
