import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

/// What happens to callbacks that aren't right.
@Suite(.limited)
struct CallbackTests {
    private let server = CodeServer()
    private let redirectURI = CodeServer.redirectURI

    /// The error for the callback that is made of the right one's parameters; nothing may have been sent.
    private func refusal(
        sendsIssuer: Bool = false, of callback: (_ right: [String: String]) throws -> URL
    ) async throws -> SignInError {
        let client = try server.client { $0.sendsIssuerInCallback = sendsIssuer }
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        let right = URLComponents(string: try server.approve(request).absoluteString)?.queryItems ?? []
        let url = try callback(Dictionary(right.map { ($0.name, $0.value ?? "") }) { $1 })
        let error = try #require(
            await #expect(throws: AtomError.self) { _ = try await client.credential(for: request, callback: url) })
        let secrets = [request.state, request.codeVerifier, request.nonce ?? ""] + right.compactMap(\.value)
        #expect(secretsShown(by: error, of: secrets) == [])
        #expect(server.wire.requests.isEmpty)
        #expect(error.delivery == .notSent)
        return try #require(error.signInError)
    }

    private func url(_ query: String) throws -> URL { try #require(URL(string: "\(redirectURI)?\(query)")) }

    @Test("A callback to another address is refused, whatever it contains")
    func otherAddress() async throws {
        for other in ["com.example.evil:/callback", "com.example.app:/other", "https://app.example.com/callback"] {
            let error = try await refusal { right in
                try CodeServer.callback(right.map { QueryItem(name: $0, value: $1) }, to: other)
            }
            #expect(error == .invalidCallback("it is not for the redirect URI"))
        }
    }

    @Test("A callback without the state, or with another one or two, is refused before anything else is believed")
    func wrongState() async throws {
        let callbacks: [([String: String]) -> String] = [
            { "code=\($0["code"] ?? "")" },
            { "code=\($0["code"] ?? "")&state=" },
            { "code=\($0["code"] ?? "")&state" },
            { "code=\($0["code"] ?? "")&state=\($0["state"] ?? "")a" },
            { "code=\($0["code"] ?? "")&state=\(($0["state"] ?? "").dropLast())" },
            { "code=\($0["code"] ?? "")&state=\(($0["state"] ?? "").lowercased())" },
            { "code=\($0["code"] ?? "")&state=\($0["state"] ?? "")&state=\($0["state"] ?? "")" },
            { "code=\($0["code"] ?? "")&state=a&state=\($0["state"] ?? "")" },
            { "code=\($0["code"] ?? "")&State=\($0["state"] ?? "")" },
            { "code=\($0["code"] ?? "")#state=\($0["state"] ?? "")" },
            { "code=\($0["code"] ?? "")&state=%ff" },
            { _ in "error=access_denied" },
            { _ in "error=access_denied&state=other&iss=https://evil.example" },
            { _ in "" },
        ]
        for callback in callbacks { #expect(try await refusal { try url(callback($0)) } == .wrongState) }
    }

    @Test("A callback of another server is refused, also with an error")
    func wrongIssuer() async throws {
        let found = "https://evil.example"
        for rest in ["code=", "error=access_denied&code="] {
            let error = try await refusal {
                try url("\(rest)\($0["code"] ?? "")&state=\($0["state"] ?? "")&iss=\(found)")
            }
            #expect(error == .wrongIssuer(expected: CodeServer.issuer, found: found))
        }
        let missing = try await refusal(sendsIssuer: true) {
            try url("code=\($0["code"] ?? "")&state=\($0["state"] ?? "")")
        }
        #expect(missing == .wrongIssuer(expected: CodeServer.issuer, found: nil))
        let declined = try await refusal(sendsIssuer: true) {
            try url("error=access_denied&state=\($0["state"] ?? "")")
        }
        #expect(declined == .declined)
        let similar = try await refusal {
            try url("code=\($0["code"] ?? "")&state=\($0["state"] ?? "")&iss=\(CodeServer.issuer)/")
        }
        #expect(similar == .wrongIssuer(expected: CodeServer.issuer, found: CodeServer.issuer + "/"))
        let repeated = try await refusal { try url("state=\($0["state"] ?? "")&iss=\($0["state"] ?? "")") }
        #expect(repeated == .wrongIssuer(expected: CodeServer.issuer, found: "…"))
    }

    @Test("A parameter that is there twice is refused")
    func twice() async throws {
        for name in ["code", "error", "iss"] {
            let value = name == "iss" ? CodeServer.issuer : "a"
            let error = try await refusal { try url("state=\($0["state"] ?? "")&\(name)=\(value)&\(name)=\(value)") }
            #expect(error == .invalidCallback("\(name) is there twice"))
        }
    }

    @Test("A callback without a code and without an error is refused")
    func noCode() async throws {
        for rest in ["", "&code=", "&code", "&Code=a", "&code=%ff", "#code=a"] {
            let error = try await refusal { try url("state=\($0["state"] ?? "")\(rest)") }
            #expect(error == .invalidCallback("it has no code"))
        }
        let empty = try await refusal { try url("state=\($0["state"] ?? "")&code=\($0["code"] ?? "")&error=") }
        #expect(empty == .invalidCallback("error is empty"))
    }

    @Test("Whoever declines is known by that, and any other error is the server's, also beside a code")
    func errors() async throws {
        let declined = try await refusal { try url("error=access_denied&state=\($0["state"] ?? "")") }
        #expect(declined == .declined)
        let refused = try await refusal {
            try url(
                "code=\($0["code"] ?? "")&error=invalid_scope&error_description=No+such%20scope:+%C3%A4&state="
                    + "\($0["state"] ?? "")&error_uri=https://auth.example.com/errors?id=5")
        }
        let error = OAuthError(
            code: "invalid_scope", explanation: "No such scope: ä", uri: "https://auth.example.com/errors?id=…")
        #expect(refused == .refused(error))
    }

    @Test("A server's text is shortened, and shows nothing of the sign-in")
    func textIsShortened() async throws {
        let error = try await refusal {
            let state = $0["state"] ?? ""
            let text = "about+\(state)+and+\($0["code"] ?? "")" + String(repeating: "+long", count: 200)
            return try url("error=\(state)&error_description=\(text)&state=\(state)&code=\($0["code"] ?? "")")
        }
        guard case .refused(let refusal) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(refusal.code == "…")
        #expect(refusal.explanation?.hasPrefix("about … and … long") == true)
        #expect((refusal.explanation?.count ?? 0) <= 201)
    }
}
