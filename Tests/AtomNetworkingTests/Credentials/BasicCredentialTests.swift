import Foundation
import Testing

@testable import AtomNetworking

@Suite("Basic credentials", .limited)
struct BasicCredentialTests {
    @Test(
        "The examples of RFC 7617, any script, and empty parts are encoded",
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("user", "a:b:c", "Basic dXNlcjphOmI6Yw=="), ("", "", "Basic Og=="), ("user", "", "Basic dXNlcjo="),
            ("", "pass", "Basic OnBhc3M="), ("日本", "é", "Basic 5pel5pysOsOp"),
        ])
    func header(username: String, password: String, is value: String) throws {
        let credential = BasicCredential(password: password, username: username)
        #expect(try credential.authorization() == value)
        #expect(HTTPGrammar.violation(inFieldValue: value) == nil)
    }

    @Test("A long credential stays on one line")
    func longCredential() throws {
        let value = try BasicCredential(password: String(repeating: "p", count: 5_000), username: "u").authorization()
        #expect(HTTPGrammar.violation(inFieldValue: value) == nil)
        #expect(Data(base64Encoded: String(value.dropFirst(6)))?.count == 5_002)
    }

    @Test("A user name with a colon is refused", arguments: [":", "a:b", "a:", ":b"])
    func colon(_ username: String) {
        let credential = BasicCredential(password: "hunter2", username: username)
        guard
            case .invalidCredential(let violation) = refusal(of: { () throws(AtomError) in
                try credential.authorization()
            })
        else {
            Issue.record("It was accepted")
            return
        }
        #expect(violation.subject == "user name")
        #expect(violation.reason.contains("colon"))
    }

    @Test("Control characters are refused in either part", arguments: Array(UInt8(0)..<0x20) + [0x7F])
    func controlCharacters(_ byte: UInt8) {
        let text = "a\(Character(Unicode.Scalar(byte)))b"
        for (credential, part) in [
            (BasicCredential(password: "hunter2", username: text), "user name"),
            (BasicCredential(password: text, username: "user"), "password"),
        ] {
            guard
                case .invalidCredential(let violation) = refusal(of: { () throws(AtomError) in
                    try credential.authorization()
                })
            else {
                Issue.record("It was accepted")
                continue
            }
            #expect(violation.subject == part)
            #expect(violation.reason.contains("control characters"))
        }
    }

    @Test("One that makes too long a field is refused")
    func tooLong() {
        let credential = BasicCredential(password: String(repeating: "hunter2", count: 11_000), username: "user")
        let error = refusal { () throws(AtomError) in try credential.authorization() }
        guard case .invalidCredential(let violation) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(violation.reason == "together they are too long for a header field")
    }

    @Test("A line break is found inside a grapheme too")
    func lineBreakInGrapheme() {
        let credential = BasicCredential(password: "a\r\nb", username: "user")
        #expect(refusal { () throws(AtomError) in try credential.authorization() } != nil)
    }

    @Test("Neither part is shown, however it is printed, also inside a configuration")
    func hidden() {
        let credential = BasicCredential(password: "hunter2", username: "magnus")
        let configuration = ServiceConfiguration(authenticationMethod: .basic(credential))
        for text in everyRendering(of: credential) + everyRendering(of: configuration)
            + everyRendering(of: AuthenticationMethod.basic(credential))
        {
            #expect(!text.contains("hunter2"))
            #expect(!text.contains("magnus"))
        }
    }

    @Test("Two credentials are equal when both parts are")
    func equality() {
        #expect(BasicCredential(password: "a", username: "b") == BasicCredential(password: "a", username: "b"))
        #expect(BasicCredential(password: "a", username: "b") != BasicCredential(password: "b", username: "a"))
    }
}
