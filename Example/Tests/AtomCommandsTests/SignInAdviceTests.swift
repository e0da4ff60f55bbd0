import AtomNetworking
import AtomNetworkingSignIn
import Crypto
import Foundation
import Testing

@testable import AtomCommands

/// What a user reads when nobody was signed in, and the file of a key.
@Suite(.limited) struct SignInAdviceTests {
    @Test(
        "each failure of a sign-in says what to do, and has a status",
        arguments: [
            (.declined, "Nothing has changed", .loginDenied), (.differentUser, "sign out first", .loginDenied),
            (.timedOut, "Try again", .timedOut), (.deviceCodeExpired, "atom login --device", .timedOut),
            (.wrongState, "Somebody may have interfered", .failure),
            (.browserFailed("it is missing"), "atom login --device", .failure),
            (.unsupported("a page"), "atom login --user", .failure),
        ] as [(SignInError, String, RequestExitStatus)])
    func advice(error: SignInError, text: String, status: RequestExitStatus) {
        let failure = AtomError.authentication(
            .credentialNotProvided(cause: error, retryAt: nil, delivery: .notSent))
        let advice = SessionAdvice(failure, file: URL(fileURLWithPath: "/session"))
        #expect(advice.message.contains(text) && advice.status == status)
        #expect(RequestExitStatus(failure) == status)
    }

    @Test("a key is made once, in a file of its owner's, and signs")
    func key() async throws {
        let folder = try TemporaryFolder()
        let url = folder.session.keyURL
        let keys = try await withThrowingTaskGroup(of: FileKey.self) { group in
            for _ in 0..<8 { group.addTask { try FileKey(url, creating: true) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(keys.map(\.publicKey)).count == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path).count == 1)

        let key = try FileKey(url)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: key.signature(for: Data("a".utf8)))
        let publicKey = try P256.Signing.PublicKey(x963Representation: key.publicKey)
        #expect(publicKey.isValidSignature(signature, for: Data("a".utf8)))
    }

    @Test("a key that is missing or damaged is named")
    func damagedKey() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("key")
        #expect(throws: FileKey.Failure.self) { try FileKey(url) }
        try Data("nonsense".utf8).write(to: url)
        let failure = try #require(throws: FileKey.Failure.self) { try FileKey(url, creating: true) }
        #expect(failure.description.contains(url.path))
        let profile = SessionFile.Profile(server: "http://127.0.0.1:1", clientID: "atom-app", keyPath: url.path)
        let error = try #require(throws: AtomError.self) { try profile.proof() }
        #expect(RequestExitStatus(error) == .fileFailed)
    }
}
