import AtomNetworking
import AtomNetworkingTesting
import Foundation

@testable import AtomNetworkingSignIn

/// Servers that answer by a script, and how they are asked.
struct ScriptedMetadata {
    let wire: ScriptedTransport
    var configuration = ServiceConfiguration()

    /// - Parameter cache: `nil` for the one of the process.
    init(_ answers: ScriptedResponse..., cache: ResponseCache? = ResponseCache(memory: 4 << 20)) {
        wire = ScriptedTransport(answers)
        configuration.cache = cache
        wire.install(in: &configuration)
    }

    /// The addresses that were asked.
    var asked: [String] { wire.requests.map(\.target.absoluteString) }

    /// What a discovery of this issuer brings.
    func discover(_ issuer: String) async -> Result<AuthorizationServer, AtomError> {
        do {
            return .success(try await AuthorizationServer.discover(issuer, configuration: configuration))
        } catch {
            return .failure(error)
        }
    }

    /// What a discovery for this URL brings, with the challenge of a 401.
    func discover(for url: String, challenge: String? = nil) async -> Result<ProtectedResource, AtomError> {
        let unauthorized = AtomResponse(
            statusCode: 401, headerFields: HeaderFields(challenge.map { ["WWW-Authenticate": $0] } ?? []))
        guard let url = URL(string: url) else { return .failure(.unexpected) }
        do {
            return .success(
                try await ProtectedResource.discover(
                    for: url, response: unauthorized, configuration: configuration))
        } catch {
            return .failure(error)
        }
    }
}

extension ScriptedResponse {
    /// A document of metadata: that of a server with this issuer, with other members added or in place of its own.
    static func metadata(
        of issuer: String, _ members: String..., headerItems: [HeaderItem] = []
    ) -> ScriptedResponse {
        let own = [#""issuer": "\#(issuer)""#, #""token_endpoint": "https://a.example/token""#]
        let names = members.map { $0.prefix { $0 != ":" } }
        let kept = own.filter { member in !names.contains { member.hasPrefix($0 + ":") } }
        return .json(text: "{\((kept + members).joined(separator: ", "))}", headerItems: headerItems)
    }

    /// A document about this resource.
    static func resource(
        _ resource: String, issuers: String = #"["https://a.example"]"#, _ members: String...
    ) -> ScriptedResponse {
        let own = [#""resource": "\#(resource)""#, #""authorization_servers": \#(issuers)"#]
        return .json(text: "{\((own + members).joined(separator: ", "))}")
    }
}

extension Result where Failure == AtomError {
    var failure: AtomError? {
        guard case .failure(let error) = self else { return nil }
        return error
    }

    /// What is wrong with a document.
    var invalidMetadata: String? {
        guard case .invalidMetadata(let reason) = failure?.signInError else { return nil }
        return reason
    }

    /// What is wrong with what the app has given.
    var refusal: String? {
        guard case .requestable(let error) = failure else { return nil }
        return error.violation.reason
    }
}
