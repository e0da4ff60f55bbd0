import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite("Discovering who issues the tokens of a server", .limited)
struct ProtectedResourceTests {
    private static let root = "https://api.example/.well-known/oauth-protected-resource"

    private static func challenge(_ url: String) -> String { #"Bearer resource_metadata="\#(url)""# }

    // MARK: Addresses

    @Test(
        "Without a challenge the well-known addresses are asked: the URL's own, and then the server's",
        arguments: [
            ("https://api.example", [root]), ("https://api.example/", [root]), ("https://api.example?x=secret", [root]),
            ("https://api.example/mcp?x=secret", [root + "/mcp", root]),
            ("https://api.example/a/b/", [root + "/a/b/", root]),
        ])
    func wellKnown(_ url: String, at addresses: [String]) async throws {
        for count in 1...addresses.count {
            let script = ScriptedMetadata()
            for _ in 1..<count { script.wire.add(.status(404)) }
            script.wire.add(.resource("https://api.example"))
            #expect(try await script.discover(for: url).get().authorizationServers == ["https://a.example"])
            #expect(script.asked == Array(addresses.prefix(count)))
            try script.wire.verify()
        }
    }

    @Test("A challenge says where the document is, and no other address is asked")
    func challenge() async throws {
        let script = ScriptedMetadata(.resource("https://api.example/mcp"), .status(404))
        let challenge = Self.challenge("https://API.example:443/metadata?of=mcp")
        #expect(
            try await script.discover(for: "https://api.example/mcp", challenge: challenge).get().resource
                == "https://api.example/mcp")
        #expect(
            await script.discover(for: "https://api.example/mcp", challenge: challenge).failure?.response?.statusCode
                == 404)
        #expect(script.asked == Array(repeating: "https://api.example:443/metadata?of=mcp", count: 2))
    }

    @Test("A challenge that doesn't say it makes no difference")
    func challengeWithoutAddress() async throws {
        let script = ScriptedMetadata(.resource("https://api.example"))
        _ = try await script.discover(for: "https://api.example", challenge: "Bearer").get()
        #expect(script.asked == [Self.root])
    }

    @Test(
        "A challenge that leads to another server, or isn't an address, is refused, and nothing is sent",
        arguments: [
            "https://b.example/metadata", "https://api.example:8443/metadata", "http://api.example/metadata",
            "http://localhost/metadata", "https://api.example.b.example/", "https://api.example@b.example/",
            "/metadata",
            "https://api.example/metadata#x", "x",
        ])
    func otherServer(_ address: String) async throws {
        let script = ScriptedMetadata()
        let result = await script.discover(for: "https://api.example/mcp", challenge: Self.challenge(address))
        #expect(result.invalidMetadata?.contains("resource_metadata") == true)
        #expect(script.asked.isEmpty)
    }

    @Test(
        "A URL without TLS is refused, unless it is on this device",
        arguments: ["http://api.example", "ws://a.example"])
    func plainURL(_ url: String) async throws {
        let script = ScriptedMetadata()
        #expect(await script.discover(for: url).refusal != nil)
        #expect(script.asked.isEmpty)
    }

    // MARK: Documents

    @Test(
        "A resource is the URL of the request, or a parent of it",
        arguments: [
            ("https://api.example", "/mcp"), ("https://api.example/", "/"), ("https://API.example:443", "/mcp"),
            ("https://api.example/mcp", "/mcp"), ("https://api.example/mcp", "/mcp?x=1"),
            ("https://api.example/mcp", "/mcp/"), ("https://api.example/mcp", "/mcp/a/b"),
            ("https://api.example/mcp/", "/mcp/a"), ("https://api.example/mcp?x=1", "/mcp?x=1"),
        ])
    func rightResource(_ resource: String, _ path: String) async throws {
        let script = ScriptedMetadata(.resource(resource))
        #expect(try await script.discover(for: "https://api.example" + path).get().resource == resource)
    }

    @Test(
        "A document about another resource is refused",
        arguments: [
            "https://b.example/mcp", "https://api.example:8443/mcp", "http://api.example/mcp", "http://localhost/mcp",
            "https://api.example/mc", "https://api.example/mcp/a", "https://api.example/mcp/",
            "https://api.example/MCP",
            "https://api.example/other", "https://api.example/mcp?x=1", "https://api.example/mcp#x",
            "https://api.example/a/../mcp", "urn:mcp", "",
        ])
    func wrongResource(_ resource: String) async throws {
        let script = ScriptedMetadata(.resource(resource))
        let result = await script.discover(for: "https://api.example/mcp")
        #expect(result.invalidMetadata?.isEmpty == false)
        #expect(script.asked.count == 1)
    }

    @Test("Everything is read that a server says")
    func everything() async throws {
        let script = ScriptedMetadata(
            .resource(
                "https://api.example", issuers: #"["https://a.example/", "https://b.example/t"]"#,
                #""scopes_supported": ["a", "b"]"#, #""dpop_bound_access_tokens_required": true, "jwks_uri": 7"#))
        let resource = try await script.discover(for: "https://api.example/flights").get()
        #expect(resource.authorizationServers == ["https://a.example/", "https://b.example/t"])
        #expect(resource.scopes == ["a", "b"] && resource.requiresBoundTokens)
        #expect("\(resource)" == "https://api.example, of https://a.example/, https://b.example/t")
    }

    @Test(
        "A document whose members break a rule is refused",
        arguments: [
            (#"null"#, "it names no authorization server"), ("[]", "it names no authorization server"),
            (#""https://a.example""#, "authorization_servers isn't a list of strings"),
            (#"["https://a.example", "http://b.example"]"#, "https"),
            (#"["http://localhost:8080"]"#, "https"), (#"["https://a.example?x"]"#, "query"),
            (#"["https://a.example"], "scopes_supported": "a""#, "scopes_supported"),
            (#"["https://a.example"], "dpop_bound_access_tokens_required": "yes""#, "isn't a Boolean"),
        ])
    func brokenRule(_ issuers: String, _ reason: String) async throws {
        let script = ScriptedMetadata(.resource("https://api.example", issuers: issuers))
        let found = await script.discover(for: "https://api.example").invalidMetadata
        #expect(found?.contains(reason) == true, "\(found ?? "nothing")")
    }

    @Test("A server on this device may name an authorization server there")
    func developmentServer() async throws {
        let script = ScriptedMetadata(
            .resource("http://127.0.0.1:8080", issuers: #"["http://localhost:9090", "https://a.example"]"#))
        let resource = try await script.discover(for: "http://127.0.0.1:8080/mcp").get()
        #expect(resource.authorizationServers == ["http://localhost:9090", "https://a.example"])
        #expect(!resource.requiresBoundTokens && resource.scopes == nil)
    }

    @Test("An error shows no values of a query and no user information")
    func errorsHideValues() async throws {
        for address in ["https://ann:hunter2@api.example/", "https://b.example/?key=hunter2"] {
            let script = ScriptedMetadata()
            let error = await script.discover(for: "https://api.example", challenge: Self.challenge(address)).failure
            #expect(error?.description.contains("hunter2") == false)
        }
        let script = ScriptedMetadata(.resource("https://b.example/?key=hunter2"))
        #expect(await script.discover(for: "https://api.example").failure?.description.contains("hunter2") == false)
    }
}
