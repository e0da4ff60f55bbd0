import AirlineServer
import FlyingSocks
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
    @Test func anAccessTokenExpiresToTheFractionOfASecond() async throws {
        let time = ManualTime()
        try await withServer(configuration { $0.accessTokenLifetime = 1.5 }, time: time) { server, client in
            let tokens = try await client.signIn()
            time.advance(by: 1.25)
            #expect(try await client.get("/account", token: tokens.access).status == 200)
            time.advance(by: 0.25)
            let expired = try await client.get("/account", token: tokens.access)
            #expect(expired.status == 401)
            #expect(
                expired.header("WWW-Authenticate")
                    == "Bearer realm=\"airline\", error=\"invalid_token\", "
                    + "error_description=\"The access token expired\""
            )
            #expect(server.counters.apiRequestsAccepted == 1)
            #expect(server.counters.apiRequestsWithExpiredToken == 1)
            #expect(server.counters.apiRequestsWithDeadToken == 1)
            #expect(server.counters.apiRequestsWithRejectedToken == 0)

            // The client has already got a 401 for this token.
            _ = try await client.get("/account", token: tokens.access)
            #expect(server.counters.apiRequestsWithRejectedToken == 1)
            // The refresh token still works.
            let refreshed = try await client.refresh(tokens.refresh).tokens()
            #expect(try await client.get("/account", token: refreshed.access).status == 200)
        }
    }

    @Test func aRefreshTokenCanExpireToo() async throws {
        let time = ManualTime()
        try await withServer(configuration { $0.refreshTokenLifetime = 60 }, time: time) { server, client in
            let tokens = try await client.signIn()
            time.advance(by: 60)
            let answer = try await client.refresh(tokens.refresh)
            #expect(try answer.text("error") == "invalid_grant")
            // This doesn't count as theft.
            #expect(server.counters.reuseDetected == 0)
            #expect(try await client.get("/account", token: tokens.access).status == 200)
        }
    }

    @Test func theBodyOfA401GoesOnUntilTheServerStops() async throws {
        let server = try await AirlineServer.start()
        let client = AirlineClient(server: server)
        let tokens = try await client.signIn()
        let path = "/account/endless-refusal"
        let accepted = try await client.get(path, token: tokens.access)
        #expect(accepted.status == 200)
        #expect(try accepted.text("name") == "ada")

        server.revokeAccessTokens()
        let socket = try await AsyncSocket.connected(to: .inet(ip4: server.host, port: server.port))
        defer { try? socket.close() }
        let request = "GET \(path) HTTP/1.1\r\nHost: \(server.host)\r\nAuthorization: Bearer \(tokens.access)\r\n\r\n"
        try await socket.write(Data(request.utf8))
        var received = ""
        // The document is complete, and more follows.
        while !received.contains("}\r\n01\r\n \r\n01\r\n \r\n") {
            received += String(decoding: try await socket.read(atMost: 4096), as: UTF8.self)
        }
        #expect(received.hasPrefix("HTTP/1.1 401 "))
        #expect(received.contains("Transfer-Encoding: chunked\r\n"))
        #expect(received.contains("error=\"invalid_token\""))
        #expect(server.events().filter { $0.path == path }.map(\.status) == [200, 401])

        await server.stop()
        await #expect(throws: (any Error).self) {
            while true { received += String(decoding: try await socket.read(atMost: 4096), as: UTF8.self) }
        }
        // The connection was closed without a last chunk.
        #expect(!received.contains("\r\n0\r\n"))
    }

    @Test func aRequestWithoutATokenIsNotToldThatItsTokenIsBad() async throws {
        try await withServer { server, client in
            let unsigned = try await client.get("/account")
            #expect(unsigned.status == 401)
            #expect(unsigned.header("WWW-Authenticate") == "Bearer realm=\"airline\"")
            let unknown = try await client.get("/account", token: "at-made-up")
            #expect(unknown.header("WWW-Authenticate")?.contains("error=\"invalid_token\"") == true)
            #expect(server.counters.apiRequestsUnsigned == 1)
            #expect(server.counters.apiRequestsWithUnknownToken == 1)
            #expect(server.counters.apiRequestsWithDeadToken == 0)
        }
    }
}
