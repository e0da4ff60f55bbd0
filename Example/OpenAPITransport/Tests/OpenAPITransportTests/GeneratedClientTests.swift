import AirlineAPI
import AirlineServer
import AtomNetworking
import Foundation
import HTTPTypes
import OpenAPIRuntime
import OpenAPITransport
import Testing

/// The generated client, on the airline's server.
@Suite(.limited) struct GeneratedClientTests {
    private let server: AirlineServer
    private let tokens: TokenCredential
    private let client: Client

    /// Signs Ada in.
    init() async throws {
        server = try await AirlineServer.start()
        let app = RegisteredClient.publicExample.id
        let signIn = HTTPRequest(
            method: .post, scheme: "http", authority: "\(server.host):\(server.port)", path: AirlineServer.tokenPath)
        let form = ["grant_type": "password", "username": "ada", "password": "lovelace", "client_id": app]
        tokens = try await Atom().enqueue(signIn, body: .form(form), requiresAuthorization: false)
            .resume(expecting: TokenCredential.self)
        let endpoint = try AuthorizationEndpoint(
            scheme: .http, host: server.host, port: Int(server.port), path: AirlineServer.tokenPath)
        let method = AuthenticationMethod.bearer(
            endpoint, ClientCredential(id: app), InMemoryTokenCredentialStore(tokens))
        let atom = Atom(serviceConfiguration: ServiceConfiguration(authenticationMethod: method))
        let transport = AtomTransport(atom) { $1.requiresAuthorization = !unsignedOperations.contains($0) }
        client = Client(serverURL: try #require(URL(string: server.baseURL)), transport: transport)
    }

    @Test func aTokenThatExpiresDuringManyCallsIsRefreshedOnce() async throws {
        server.updatePolicy { $0.delayMilliseconds = 100 }
        server.expireAccessTokens()
        let numbers = (1...50).map(String.init)
        let received = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in numbers {
                group.addTask { try await client.readMiles(query: .init(number: number)).ok.body.json.number }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(received == Set(numbers))
        #expect(server.counters.refreshes == 1)
        #expect(server.counters.apiRequestsAccepted == numbers.count)
    }

    @Test func onlyASignedOperationNeedsTheSession() async throws {
        server.endSessions()
        let error = await #expect(throws: ClientError.self) { try await client.readMiles() }
        #expect((error?.underlyingError as? AtomError)?.isAccessTokenRefreshFailure == true)
        let flights = try await client.listFlights(query: .init(from: "SEA", to: "SFO")).ok.body.json
        #expect(flights.map(\.number) == ["AS100"])
        #expect(server.counters.apiRequestsUnsigned == 0)
    }

    @Test func theUnsignedOperationsAreThoseOfTheDocument() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/AirlineAPI/openapi.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let paths = try #require(document?["paths"] as? [String: [String: [String: Any]]])
        let unsigned = paths.values.flatMap(\.values).filter { ($0["security"] as? [Any])?.isEmpty == true }
        #expect(Set(unsigned.compactMap { $0["operationId"] as? String }) == unsignedOperations)
    }

    @Test func theErrorOfTheClientHasTheCauseAndNoToken() async throws {
        await server.stop()
        let error = try #require(
            await #expect(throws: ClientError.self) { try await client.readMiles(query: .init(number: "seven")) })
        let cause = error.underlyingError as? AtomError
        #expect(cause?.isConnectivityFailure == true && cause?.delivery == .notSent)
        let text = "\(error) \(error.localizedDescription)"
        #expect(text.contains("seven"), "it shows the request")
        #expect(!text.contains(tokens.accessToken) && !text.contains(tokens.refreshToken))
    }

    @Test func whatTheServerRefusesIsAResponse() async throws {
        let taken = try await client.bookSeat(body: .json(.init(flight: "AS100", seat: "1A", passenger: "Ada")))
        #expect(try taken.conflict.body.json.code == "seat_taken")
        let booking = try await client.bookSeat(body: .json(.init(flight: "AS100", seat: "9F", passenger: "Ada")))
        #expect(try booking.created.body.json.seat == "9F")
    }

    @Test func filesAreSentAndReadInParts() async throws {
        let parts = AsyncStream<ArraySlice<UInt8>> { continuation in
            for _ in 0..<200 { continuation.yield(ArraySlice(repeating: 7, count: 100_000)) }
            continuation.finish()
        }
        let receipt = try await client.upload(body: .binary(HTTPBody(parts, length: .unknown))).ok.body.json
        #expect(receipt.bytes == 20_000_000 && receipt.contentType == "application/octet-stream")

        let file = try await client.download(path: .init(size: 3_000_000)).ok.body.binary
        let bytes = try await [UInt8](collecting: file, upTo: .max)
        #expect(bytes == (0..<3_000_000).map { UInt8($0 % 251) })
    }
}
