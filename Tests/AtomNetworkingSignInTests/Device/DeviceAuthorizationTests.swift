import AtomNetworking
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct DeviceAuthorizationTests {
    private static let sentAt = MonotonicInstant(nanoseconds: 7_000_000_000)
    private static let date = Date(timeIntervalSince1970: 1_790_000_000)

    /// Reads a response whose members are changed; a member of `null` is one that is missing.
    private func read(_ changes: String...) throws -> DeviceAuthorization {
        let given = [
            "\"device_code\": \"SECRET\"", "\"user_code\": \"WDJB-MJHT\"",
            "\"verification_uri\": \"https://as.example/device\"", "\"expires_in\": 1800",
        ]
        let names = changes.map { $0.prefix { $0 != ":" } }
        let members = given.filter { member in !names.contains { member.hasPrefix($0) } } + changes
        return try DeviceAuthorization(
            AtomResponse(data: Data("{\(members.joined(separator: ","))}".utf8), statusCode: 200),
            scopes: ["openid"], sentAt: Self.sentAt, Self.date)
    }

    private func refusal(_ changes: String) -> String? {
        let error = #expect(throws: AtomError.self) { try read(changes) }
        guard case .invalidTokenResponse(let reason) = error?.signInError else { return nil }
        #expect(!reason.contains("SECRET"))
        return reason
    }

    @Test("A response has what the person needs, and when the code expires")
    func response() throws {
        let authorization = try read(
            "\"verification_uri_complete\": \"https://as.example/device?user_code=WDJB-MJHT\"", "\"interval\": 7")
        #expect(authorization.userCode == "WDJB-MJHT")
        #expect(authorization.verificationURL.absoluteString == "https://as.example/device")
        #expect(
            authorization.completeVerificationURL?.absoluteString == "https://as.example/device?user_code=WDJB-MJHT")
        #expect(authorization.expiresAt == Self.date.addingTimeInterval(1800))
        #expect(authorization.expiry == Self.sentAt.advanced(by: .seconds(1800)))
        #expect(authorization.interval == .seconds(7))
        #expect(authorization.deviceCode == "SECRET")
        #expect(authorization.scopes == ["openid"])
    }

    @Test("Without an interval it is five seconds, and there may be no complete address")
    func defaults() throws {
        let authorization = try read()
        #expect(authorization.interval == .seconds(5))
        #expect(authorization.completeVerificationURL == nil)
    }

    @Test("No description shows the code")
    func isRedacted() throws {
        let authorization = try read()
        var dumped = ""
        dump(authorization, to: &dumped)
        #expect(!"\(authorization)\(String(reflecting: authorization))\(dumped)".contains("SECRET"))
    }

    @Test("Google calls the address by another name")
    func google() throws {
        let authorization = try read(
            "\"verification_uri\": null", "\"verification_url\": \"https://www.google.com/device\"")
        #expect(authorization.verificationURL.absoluteString == "https://www.google.com/device")
    }

    @Test(
        "Times may be strings, and are bounded",
        arguments: [
            ("\"600\"", 600), ("600.5", 600.5), ("0", 0), ("-5", 0), ("1e300", 31_536_000), ("\"1e300\"", 31_536_000),
        ])
    func lifetime(_ text: String, _ seconds: Double) throws {
        let authorization = try read("\"expires_in\": \(text)")
        #expect(authorization.expiresAt == Self.date.addingTimeInterval(seconds))
        #expect(authorization.expiry == Self.sentAt.advanced(by: .seconds(seconds)))
    }

    @Test(
        "An interval is at least a second, and five if it can't be read",
        arguments: [
            ("\"10\"", 10), ("0", 1), ("-1", 1), ("0.5", 1), ("1e300", 31_536_000), ("\"soon\"", 5), ("null", 5),
            ("\"nan\"", 5),
        ])
    func interval(_ text: String, _ seconds: Double) throws {
        #expect(try read("\"interval\": \(text)").interval == .seconds(seconds))
    }

    @Test(
        "A response without what is required says what is missing",
        arguments: ["device_code", "user_code", "expires_in"])
    func missing(_ name: String) {
        for value in ["null", "{}", "\"\""] {
            #expect(refusal("\"\(name)\": \(value)")?.hasSuffix(" has no \(name)") == true)
        }
    }

    @Test("An address is missing, or isn't one that a person should open")
    func addresses() throws {
        #expect(refusal("\"verification_uri\": null")?.hasSuffix(" has no verification_uri") == true)
        for address in [
            "http://as.example/device", "ftp://as.example", "javascript:alert(1)", "/device", "https:///device",
            "http://localhost.evil.example/",
        ] {
            for name in ["verification_uri", "verification_uri_complete"] {
                #expect(refusal("\"\(name)\": \"\(address)\"")?.hasSuffix("that isn't an https URL") == true)
            }
        }
        for address in [
            "http://localhost:8080/device", "http://127.0.0.1/device", "http://[::1]:8080/", "HTTPS://a.b/",
        ] {
            #expect(try read("\"verification_uri\": \"\(address)\"").verificationURL.absoluteString == address)
        }
    }

    @Test("What isn't a JSON object is refused")
    func noObject() {
        for text in ["", "[]", "<html>", "device_code=x"] {
            let response = AtomResponse(data: Data(text.utf8), statusCode: 200)
            let error = #expect(throws: AtomError.self) {
                try DeviceAuthorization(response, scopes: [], sentAt: Self.sentAt, Self.date)
            }
            #expect(error?.signInError?.description.contains("isn't a JSON object") == true)
        }
    }
}
