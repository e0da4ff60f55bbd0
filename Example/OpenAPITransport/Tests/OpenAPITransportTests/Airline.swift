import AirlineAPI
import AirlineServer
import AtomNetworking
import Foundation
import OpenAPIRuntime
import OpenAPITransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The airline's API as the generated client has it.
enum Airline {
    /// The operations whose `security` is empty.
    static let unsignedOperations: Set<String> = [
        Operations.ListFlights.id, Operations.BookSeat.id, Operations.Upload.id, Operations.Download.id,
        Operations.CallBusyServer.id,
    ]

    /// A client of a server, with the tokens that a session begins with.
    static func client(
        of server: AirlineServer, tokens: TokenCredential?,
        adjusting adjust: @escaping AtomTransport.Adjustment = { _, _ in }
    ) throws -> Client {
        let tokenEndpoint = try AuthorizationEndpoint(
            scheme: .http, host: server.host, port: Int(server.port), path: AirlineServer.tokenPath)
        let client = ClientCredential(
            id: OAuthClient.confidentialExample.id, secret: OAuthClient.confidentialExample.secret)
        let atom = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .bearer(tokenEndpoint, client, InMemoryTokenCredentialStore(tokens))))
        let transport = AtomTransport(atom) { operationID, options in
            options.requiresAuthorization = !unsignedOperations.contains(operationID)
            adjust(operationID, &options)
        }
        guard let serverURL = URL(string: server.baseURL) else { throw URLError(.badURL) }
        return Client(serverURL: serverURL, transport: transport)
    }

    /// Signs Ada in.
    static func tokens(from server: AirlineServer) async throws -> TokenCredential {
        try await Atom().enqueue(SignInEndpoint(server: server)).resume(expecting: TokenCredential.self)
    }

    private struct SignInEndpoint: Requestable {
        let server: AirlineServer

        var method: HTTPMethod { .post }
        var requiresAuthorization: Bool { false }
        var body: RequestBody? {
            .form([
                "grant_type": "password", "username": "ada", "password": "lovelace",
                "client_id": OAuthClient.confidentialExample.id,
                "client_secret": OAuthClient.confidentialExample.secret,
            ])
        }

        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(string: server.baseURL) }
        func path() throws(AtomError) -> URLPath { try URLPath(AirlineServer.tokenPath) }
    }
}

/// Runs a test with a server and a client that is signed in.
func withAirline(
    adjusting adjust: @escaping AtomTransport.Adjustment = { _, _ in },
    _ test: (Client, AirlineServer) async throws -> Void
) async throws {
    let server = try await AirlineServer.start()
    let result: Result<Void, any Error>
    do {
        let client = try Airline.client(
            of: server, tokens: try await Airline.tokens(from: server), adjusting: adjust)
        result = .success(try await test(client, server))
    } catch {
        result = .failure(error)
    }
    await server.stop()
    try result.get()
}

/// What an operation has failed with.
func failure<T>(of operation: () async throws -> T) async -> AtomError? {
    do {
        _ = try await operation()
        return nil
    } catch let error as ClientError {
        return error.underlyingError as? AtomError
    } catch {
        return error as? AtomError
    }
}

extension AtomError {
    /// Why the request was never sent.
    var refusal: RequestableError? { if case .requestable(let error) = self { error } else { nil } }

    /// What was wrong with a body.
    var transfer: TransferError? { if case .transfer(let error) = self { error } else { nil } }

    /// How far a cancelled request got.
    var cancelledDelivery: Delivery? { if case .cancelled(let delivery) = self { delivery } else { nil } }

    /// What the connection met.
    var connectionCode: URLError.Code? {
        if case .session(let error) = self { (error as? URLError)?.code } else { nil }
    }

    /// Why there was no credential.
    var authentication: AuthenticationError? { if case .authentication(let error) = self { error } else { nil } }
}
