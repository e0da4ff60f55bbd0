import AirlineServer
import AtomNetworking
import Foundation
import Observation
import Testing

@testable import Airline

@Suite(.timeLimit(.minutes(2))) struct DocumentUploadTests {
    @Test func theProgressGrowsUntilTheServerHasEverything() async throws {
        try await withAccount { account, server in
            await account.signIn(user: "ada", password: "lovelace")
            let upload = DocumentUpload(account.service)
            let file = try TemporaryFile(bytes: 20_000_000)
            defer { file.remove() }

            let task = upload.send(file.url)
            #expect(upload.send(file.url) == task, "one at a time")
            var fractions: [Double] = []
            while case .sending(let fraction) = upload.phase {
                fractions.append(fraction ?? -1)
                let before = upload.phase
                await wait { upload.phase != before }
            }
            await task.value
            #expect(upload.phase == .sent(bytes: 20_000_000))
            #expect(fractions == fractions.sorted())
            #expect(fractions.allSatisfy { (0...1).contains($0) })
            #expect(fractions.count > 1)
        }
    }

    @Test func aMissingFileIsSaidAndTheNextOneIsSent() async throws {
        try await withAccount { account, _ in
            await account.signIn(user: "ada", password: "lovelace")
            let upload = DocumentUpload(account.service)
            await upload.send(URL(fileURLWithPath: "/nowhere/passport.jpg")).value
            guard case .failed(let message) = upload.phase else {
                Issue.record("the upload is \(upload.phase)")
                return
            }
            #expect(message.contains("passport.jpg"))

            let file = try TemporaryFile(bytes: 3)
            defer { file.remove() }
            await upload.send(file.url).value
            #expect(upload.phase == .sent(bytes: 3))
        }
    }

    @Test func aCancelledUploadIsReadyForAnother() async throws {
        let transport = ScriptedTransport()
        let tokens = TokenCredential(
            accessToken: "good", expiresAt: Date(timeIntervalSinceNow: 3600), refreshToken: "next")
        let service = try AirlineService(
            base: try BaseURL(host: "api.example.com"), store: InMemoryTokenCredentialStore(tokens)
        ) { $0.transport = transport }
        let upload = DocumentUpload(service)
        let file = try TemporaryFile(bytes: 3)
        defer { file.remove() }

        let task = upload.send(file.url)
        _ = try #require(await transport.next())
        #expect(upload.phase == .sending(fraction: 0))
        upload.cancel()
        await task.value
        #expect(upload.phase == .ready)

        let another = upload.send(file.url)
        try #require(await transport.next()).answer(#"{"bytes": 3}"#)
        await another.value
        #expect(upload.phase == .sent(bytes: 3))
    }
}

/// A file of zeros.
private struct TemporaryFile {
    let url: URL

    init(bytes: Int) throws {
        url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(count: bytes).write(to: url)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
