import AirlineServer
import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import Airline

@Suite(.limited) struct DocumentUploadTests {
    @Test func theProgressGrowsUntilTheServerHasEverything() async throws {
        try await withAccount { account, server in
            await account.signIn()
            let upload = DocumentUpload(account.service)
            let file = try TemporaryFile(bytes: 20_000_000)
            defer { file.remove() }

            let task = upload.send(file.url)
            #expect(upload.send(file.url) == task, "one at a time")
            let history = History { upload.phase }
            await task.value
            #expect(upload.phase == .sent(bytes: 20_000_000))
            let fractions = history.values.map { phase in
                guard case .sending(let fraction?) = phase else { return -1.0 }
                return fraction
            }
            #expect(fractions == fractions.sorted())
            #expect(fractions.allSatisfy { (0...1).contains($0) })
            #expect(Set(fractions).count > 1)
        }
    }

    @Test func aMissingFileIsSaidAndTheNextOneIsSent() async throws {
        try await withAccount { account, _ in
            await account.signIn()
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
        try await withScriptedService([.never, .json(Receipt(bytes: 3))]) { service, wire in
            let upload = DocumentUpload(service)
            let file = try TemporaryFile(bytes: 3)
            defer { file.remove() }

            let task = upload.send(file.url)
            await wire.idle()
            #expect(upload.phase == .sending(fraction: 0))
            upload.cancel()
            await task.value
            #expect(upload.phase == .ready)

            await upload.send(file.url).value
            #expect(upload.phase == .sent(bytes: 3))
            #expect(wire.requests.map(\.bodyLength) == [3, 3])
        }
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
