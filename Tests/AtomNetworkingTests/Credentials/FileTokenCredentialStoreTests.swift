import Foundation
import Testing

@testable import AtomNetworking

@Suite("A file of tokens", .limited)
struct FileTokenCredentialStoreTests {
    private let folder: TemporaryFolder
    private let store: FileTokenCredentialStore

    init() throws {
        folder = try TemporaryFolder()
        store = folder.store()
    }

    // MARK: Reading and writing

    @Test("What was saved is loaded by every store of the file, until it is removed")
    func saveAndLoad() async throws {
        #expect(try await store.load() == nil)
        #expect(try folder.names == [])
        let credential = TokenCredential(
            accessToken: "a", expiresAt: Date(timeIntervalSinceReferenceDate: 811_692_800.123_456_7), refreshToken: "",
            scope: "s")
        try await store.save(credential)
        #expect(try await store.load() == credential)
        #expect(try await folder.store().load() == credential)
        try await folder.store().save(nil)
        #expect(try await store.load() == nil)
        try await store.save(nil)
        #expect(try folder.names == ["tokens.json.lock"])
    }

    @Test("The file is its owner's only, and so are the folders that are made for it")
    func modes() async throws {
        let file = folder["outer/inner/tokens.json"]
        try await FileTokenCredentialStore(fileURL: file).save(.numbered(1))
        #expect(try mode(of: folder["outer"]) == 0o700)
        #expect(try mode(of: folder["outer/inner"]) == 0o700)
        #expect(try mode(of: file) == 0o600)
        #expect(try mode(of: folder["outer/inner/tokens.json.lock"]) == 0o600)
    }

    @Test("A file that others can read is closed to them when it is read")
    func readableFile() async throws {
        try await store.save(.numbered(1))
        chmod(folder.file.path, 0o644)
        #expect(try await store.load() == .numbered(1))
        #expect(try mode(of: folder.file) == 0o600)
    }

    @Test("A write replaces the file, so a reader of the old one reads all of it")
    func replacement() async throws {
        try await store.save(.numbered(1))
        let old = try status(of: folder.file)
        let reader = try FileHandle(forReadingFrom: folder.file)
        try await store.save(.numbered(2))
        #expect(try status(of: folder.file).st_ino != old.st_ino)
        let data = try #require(try reader.readToEnd())
        #expect(try StoredCredential(data).credential == .numbered(1))
        #expect(try folder.names == ["tokens.json", "tokens.json.lock"])
    }

    @Test("The next write removes the files of a killed writer, and no others")
    func leftovers() async throws {
        let left = "tokens.json.tmp-0123456789abcdef"
        let others = ["other.json.tmp-0123456789abcdef", "tokens.json.tmp-0123456789abcdex", "tokens.json.tmp-01234"]
        for write in [TokenCredential.numbered(1), nil] {
            for name in [left] + others { try Data("x".utf8).write(to: folder[name]) }
            try await store.save(write)
            #expect(try !folder.names.contains(left))
            #expect(Set(others).isSubset(of: try folder.names))
        }
    }

    // MARK: Exchanging

    @Test("An exchange stores the result of its body")
    func exchange() async throws {
        for number in 1...3 {
            let result = try await store.exchange { old in
                #expect(old?.number == (number == 1 ? nil : number - 1))
                return .numbered(number)
            }
            #expect(result == .numbered(number))
            #expect(try await folder.store().load() == .numbered(number))
        }
        #expect(try await store.exchange { _ in nil } == nil)
        #expect(try await store.load() == nil)
    }

    @Test("An exchange that changes nothing writes nothing")
    func unchanged() async throws {
        try await store.save(.numbered(1))
        let before = try status(of: folder.file)
        #expect(try await store.exchange { $0 } == .numbered(1))
        #expect(try await store.exchange { _ in .numbered(1) } == .numbered(1))
        #expect(try status(of: folder.file).st_ino == before.st_ino)
    }

    @Test("An exchange that throws changes nothing, and lets the next one in")
    func exchangeThrows() async throws {
        struct Refusal: Error {}
        try await store.save(.numbered(1))
        await #expect(throws: Refusal.self) { try await store.exchange { _ in throw Refusal() } }
        #expect(try await folder.store().exchange { $0 } == .numbered(1))
    }

    @Test("Tokens whose folder is removed during the exchange are stored all the same")
    func folderRemoved() async throws {
        let file = folder["inner/tokens.json"]
        let store = FileTokenCredentialStore(fileURL: file)
        let inner = folder["inner"]
        _ = try await store.exchange { _ in
            try FileManager.default.removeItem(at: inner)
            return .numbered(1)
        }
        #expect(try await store.load() == .numbered(1))
    }

    // MARK: What can't be read

    static let corruptions: [(name: String, content: Data)] = [
        ("empty", Data()), ("no JSON", Data("hunter2".utf8)), ("an array", Data(#"["hunter2"]"#.utf8)),
        ("no version", Data(#"{"credential":{"access_token":"hunter2"}}"#.utf8)),
        ("version 0", Data(#"{"version":0}"#.utf8)), ("a version in words", Data(#"{"version":"hunter2"}"#.utf8)),
        ("version 1.5", Data(#"{"version":1.5}"#.utf8)), ("version 1e99", Data(#"{"version":1e99}"#.utf8)),
        ("no access token", Data(#"{"version":1,"credential":{"refresh_token":"hunter2"}}"#.utf8)),
        (
            "a wrong expiry",
            Data(#"{"version":1,"credential":{"access_token":"a","expires_from_2001":"hunter2"}}"#.utf8)
        ),
        ("half of it", Data(#"{"credential":{"access_token":"hunter2","expires_fr"#.utf8)),
        ("no UTF-8", Data([0x7b, 0xff, 0xfe, 0x7d])), ("zeros", Data(count: 4_096)),
        ("too deep", Data(repeating: UInt8(ascii: "["), count: 100_000)),
        ("too large", Data(repeating: UInt8(ascii: " "), count: 2 << 20)),
    ]

    @Test("What can't be read is reported once and kept, and then there is nothing", arguments: corruptions.indices)
    func corrupt(index: Int) async throws {
        let content = Self.corruptions[index].content
        for viaExchange in [false, true] {
            try content.write(to: folder.file)
            let error = await #expect(throws: TokenStoreError.self) {
                if viaExchange {
                    _ = try await store.exchange { _ in
                        Issue.record("There is nothing to exchange")
                        return nil
                    }
                } else {
                    _ = try await store.load()
                }
            }
            guard case .corrupt(_, let place?) = try #require(error) else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(place.deletingLastPathComponent().path == folder.url.path)
            #expect(place.lastPathComponent.hasPrefix("tokens.json.corrupt-"))
            #expect(try Data(contentsOf: place) == content)
            expectNone(of: everyRendering(of: try #require(error)), toContain: "hunter2")
            #expect(try await store.load() == nil)
            #expect(try await store.exchange { $0 } == nil)
        }
        try await store.save(.numbered(1))
        #expect(try await store.load() == .numbered(1))
        #expect(try folder.names.count { $0.contains("corrupt") } == 2)
    }

    @Test("Saving over what can't be read keeps it", arguments: [TokenCredential.numbered(1), nil])
    func saveOverCorrupt(credential: TokenCredential?) async throws {
        try Data("x".utf8).write(to: folder.file)
        try await store.save(credential)
        #expect(try await store.load() == credential)
        let kept = try #require(try folder.names.first { $0.contains("corrupt") })
        #expect(try Data(contentsOf: folder[kept]) == Data("x".utf8))
    }

    @Test("What a newer version wrote is left alone by every method")
    func newer() async throws {
        let content = Data(#"{"version":2,"tokens":["hunter2"]}"#.utf8)
        try content.write(to: folder.file)
        let expected = TokenStoreError.newerFormat(version: 2)
        await #expect(throws: expected) { try await store.load() }
        await #expect(throws: expected) { try await store.save(.numbered(1)) }
        await #expect(throws: expected) { try await store.save(nil) }
        await #expect(throws: expected) { try await store.exchange { _ in .numbered(1) } }
        await #expect(throws: expected) { try await store.recordRefreshIntent(for: .numbered(1)) }
        await store.removeRefreshIntent(for: .numbered(1))
        #expect(try Data(contentsOf: folder.file) == content)
        #expect(try folder.names == ["tokens.json", "tokens.json.lock"])
    }

    // MARK: Notes about a refresh

    @Test("A note about a refresh outlives the store that made it")
    func note() async throws {
        try await store.save(.numbered(1))
        #expect(try await store.recordRefreshIntent(for: .numbered(1)) == false)
        #expect(try await store.load() == .numbered(1))
        let other = folder.store()
        _ = try await other.exchange { old in
            let wasThere = try await other.recordRefreshIntent(for: .numbered(1))
            #expect(wasThere)
            return old
        }
        #expect(try await folder.store().recordRefreshIntent(for: .numbered(1)))
        #expect(try folder.names == ["tokens.json", "tokens.json.lock"])
        #expect(try mode(of: folder.file) == 0o600)
    }

    @Test("A note about another refresh token doesn't count and is replaced")
    func noteOfAnother() async throws {
        #expect(try await store.recordRefreshIntent(for: .numbered(1)) == false)
        #expect(try await store.recordRefreshIntent(for: .numbered(2)) == false)
        await store.removeRefreshIntent(for: .numbered(1))
        #expect(try await store.recordRefreshIntent(for: .numbered(2)))
        #expect(try await store.load() == nil)
    }

    @Test("A note that is removed is gone")
    func noteRemoved() async throws {
        for stored in [TokenCredential.numbered(1), nil] {
            try await store.save(stored)
            _ = try await store.exchange { old in
                for _ in 0..<2 {
                    let wasThere = try await store.recordRefreshIntent(for: .numbered(1))
                    #expect(!wasThere)
                    await store.removeRefreshIntent(for: .numbered(1))
                }
                return old
            }
            #expect(try await store.load() == stored)
        }
        #expect(try folder.names == ["tokens.json.lock"])
    }

    @Test("Storing a credential ends the note, also where the refresh token stays the same")
    func noteEnds() async throws {
        try await store.save(.numbered(1))
        let renewed = TokenCredential(accessToken: "b", expiresAt: .distantFuture, refreshToken: "refresh-1")
        _ = try await store.exchange { _ in
            let wasThere = try await store.recordRefreshIntent(for: .numbered(1))
            #expect(!wasThere)
            return renewed
        }
        #expect(try await store.recordRefreshIntent(for: renewed) == false)
        try await store.save(nil)
        #expect(try await store.recordRefreshIntent(for: renewed) == false)
    }

    @Test("An unreadable note is ignored, and no token is lost")
    func unreadableNote() async throws {
        let text = #"{"version":1,"credential":{"access_token":"a","refresh_token":"r"},"refresh_begun":"x"}"#
        try Data(text.utf8).write(to: folder.file)
        let credential = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r")
        #expect(try await store.load() == credential)
        #expect(try await store.recordRefreshIntent(for: credential) == false)
        #expect(try await store.recordRefreshIntent(for: credential))
        #expect(try await store.load() == credential)
    }

    @Test("No rendering of a store shows what is in it")
    func secrecy() async throws {
        let secret = TokenCredential(accessToken: "hunter2", expiresAt: .distantFuture, refreshToken: "hunter2")
        try await store.save(secret)
        _ = try await store.recordRefreshIntent(for: secret)
        #expect(try await store.load() == secret)
        expectNone(of: everyRendering(of: store), toContain: "hunter2")
    }
}
