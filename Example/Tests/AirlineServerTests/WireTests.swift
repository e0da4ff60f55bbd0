import AirlineServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct WireTests {
    private let session = URLSession(configuration: .ephemeral)

    private func send(
        _ method: String,
        _ path: String,
        to server: AirlineServer,
        headers: [String: String] = [:]
    ) async throws -> (Data, HTTPURLResponse) {
        var request = URLRequest(url: try #require(URL(string: server.baseURL + path)))
        request.httpMethod = method
        for (name, value) in headers {
            request.setValue(value, forHTTPHeaderField: name)
        }
        let (data, response) = try await session.data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }

    @Test func aKeptConnectionIsNotHeldUpByNagle() async throws {
        try await withServer { server, _ in
            var times: [UInt64] = []
            for _ in 1...40 {
                let start = DispatchTime.now().uptimeNanoseconds
                _ = try await send("GET", "/flights", to: server)
                times.append(DispatchTime.now().uptimeNanoseconds - start)
            }
            // Without the fix, a delayed acknowledgement adds 40 ms to every
            // response on a used connection.
            let fastest = times.suffix(20).min() ?? .max
            #expect(fastest < 35_000_000)
        }
    }

    @Test func headHasTheHeadersOfGetAndNoBody() async throws {
        try await withServer { server, _ in
            let (body, _) = try await send("GET", "/flights", to: server)
            let (nothing, head) = try await send("HEAD", "/flights", to: server)
            #expect(nothing.isEmpty)
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Length") == String(body.count))
            // The connection is still usable.
            #expect(try await send("GET", "/flights", to: server).0 == body)
        }
    }

    @Test func anETagSavesTheBody() async throws {
        try await withServer { server, _ in
            let (body, first) = try await send("GET", "/flights", to: server)
            let tag = try #require(first.value(forHTTPHeaderField: "ETag"))
            let (nothing, second) = try await send("GET", "/flights", to: server, headers: ["If-None-Match": tag])
            #expect(second.statusCode == 304)
            #expect(nothing.isEmpty)
            let (again, third) = try await send("GET", "/flights", to: server, headers: ["If-None-Match": "\"old\""])
            #expect(third.statusCode == 200)
            #expect(again == body)
        }
    }

    @Test func redirectsLeadToTheFlights() async throws {
        try await withServer { server, client in
            let one = try await client.get("/redirect?status=307&to=/me")
            #expect(one.status == 307)
            #expect(one.header("Location") == "/me")
            #expect(try await client.get("/redirect/3").header("Location") == "/redirect/2")
            let (body, _) = try await send("GET", "/redirect/3", to: server)
            #expect(try await send("GET", "/flights", to: server).0 == body)
        }
    }

    @Test func theEchoTellsWhatArrived() async throws {
        try await withServer { _, client in
            let answer = try await client.send(
                "PATCH",
                "/echo/a b?q=1",
                headers: ["X-Mine": "yes"],
                body: Data("hello".utf8)
            )
            let json = try answer.json()
            #expect(json["method"] as? String == "PATCH")
            #expect(json["body"] as? String == "hello")
            #expect(json["bodyLength"] as? Int == 5)
            let headers = json["headers"] as? [[String: String]] ?? []
            #expect(headers.contains(["name": "X-Mine", "value": "yes"]))
        }
    }

    @Test(arguments: [
        ("/errors/418", 418), ("/errors/html", 502), ("/errors/empty", 500), ("/errors/malformed", 200),
        ("/errors/99", 422), ("/nowhere", 404), ("/slow?milliseconds=1", 200), ("/slow?milliseconds=x", 422),
    ])
    func answersToSurviveAreGiven(path: String, status: Int) async throws {
        try await withServer { _, client in
            let answer = try await client.get(path)
            #expect(answer.status == status)
        }
    }

    @Test func aConnectionIsClosedWithoutAnAnswer() async throws {
        try await withServer { server, client in
            await #expect(throws: (any Error).self) { try await client.get("/errors/hang-up") }
            let flights = try await client.get("/flights")
            #expect(flights.status == 200)
            #expect(server.events().first?.status == nil)
        }
    }

    @Test func aBodyThatIsTooLargeIsRefused() async throws {
        var configuration = ServerConfiguration()
        configuration.bodyLimit = 100_000
        try await withServer(configuration) { _, client in
            let largest = try await client.send("POST", "/echo", body: Data(repeating: 65, count: 100_000))
            #expect(try largest.json()["bodyLength"] as? Int == 100_000)
            #expect(try await client.send("POST", "/echo", body: Data(repeating: 65, count: 100_001)).status == 413)
        }
    }

    @Test func theDateHeaderCanBeWrongOnPurpose() async throws {
        try await withServer(configuration { $0.dateOffset = -400 * 86_400 }) { _, client in
            let text = try #require(try await client.get("/flights").header("Date"))
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "GMT")
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
            let date = try #require(formatter.date(from: text))
            #expect(abs(date.timeIntervalSinceNow + 400 * 86_400) < 60)
        }
    }

    @Test func aTakenPortIsAnErrorAndAStoppedServerFreesIt() async throws {
        let first = try await AirlineServer.start()
        var configuration = ServerConfiguration()
        configuration.port = first.port
        await #expect(throws: (any Error).self) { try await AirlineServer.start(configuration) }
        await first.stop()
        let second = try await AirlineServer.start(configuration)
        #expect(second.port == first.port)
        #expect(try await AirlineClient(server: second).get("/flights").status == 200)
        await second.stop()
    }
}
