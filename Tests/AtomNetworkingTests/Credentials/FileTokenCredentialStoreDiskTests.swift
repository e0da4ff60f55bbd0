#if os(Linux) && canImport(Glibc)
    import Foundation
    import Glibc
    import Testing

    @testable import AtomNetworking

    extension SmallDisk {
        fileprivate var file: URL { URL(fileURLWithPath: path("store/tokens.json")) }
    }

    @Suite(
        "A file of tokens on a disk that fails",
        .enabled(if: SmallDisk.isAllowed, "this process may not mount a disk: it isn't root, or in a container"),
        .limited)
    struct FileTokenCredentialStoreDiskTests {
        private static func putTokens(_ content: Data, in root: String) throws {
            try #require(mkdir(root + "/store", 0o700) == 0)
            try content.write(to: URL(fileURLWithPath: root + "/store/tokens.json"))
            try #require(chmod(root + "/store/tokens.json", 0o600) == 0)
        }

        private static func names(_ disk: SmallDisk) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: disk.path("store")).sorted()
        }

        @Test("On a full disk the old tokens stay, and there is room for them to be removed")
        func full() async throws {
            let disk = try SmallDisk(pages: 16) { root in
                try Self.putTokens(try StoredCredential(credential: .numbered(1)).encoded(), in: root)
            }
            let store = FileTokenCredentialStore(fileURL: disk.file)
            #expect(try await store.recordRefreshIntent(for: .numbered(1)) == false)
            try disk.fill()
            await #expect(throws: TokenStoreError.diskFull) { try await store.save(.numbered(2)) }
            await #expect(throws: TokenStoreError.diskFull) { try await store.exchange { _ in .numbered(2) } }
            // Also a note that is there already: it says that the new tokens will find room.
            for number in 1...2 {
                await #expect(throws: TokenStoreError.diskFull) {
                    try await store.recordRefreshIntent(for: .numbered(number))
                }
            }
            #expect(try await store.load() == .numbered(1))
            #expect(try Self.names(disk) == ["tokens.json", "tokens.json.lock"])
            try await store.save(nil)
            #expect(try await store.load() == nil)
            unlink(disk.path("filler"))
            try await store.save(.numbered(3))
            #expect(try await store.load() == .numbered(3))
        }

        @Test("On a full disk a session sends no refresh, and goes on when there is space")
        func session() async throws {
            let disk = try SmallDisk(pages: 16) { root in
                try Self.putTokens(try StoredCredential(credential: .issued(0, life: 0)).encoded(), in: root)
            }
            let session = try SessionFixture(store: FileTokenCredentialStore(fileURL: disk.file))
            try disk.fill()
            guard
                case .authentication(.refreshFailed(TokenStoreError.diskFull, _, .notSent)) = await session.call()
                    .error()
            else { throw Unexpected("not refused") }
            #expect(session.transport.exchanges.isEmpty)
            unlink(disk.path("filler"))
            let call = session.call()
            await session.refresh().grant(1)
            await session.transport.exchange(1).answer()
            #expect(await call.status() == 200)
            #expect(try await FileTokenCredentialStore(fileURL: disk.file).load()?.refreshToken == "R1")
        }

        @Test("A partly written file is removed when the disk is full")
        func half() async throws {
            let disk = try SmallDisk(pages: 16) { root in
                try Self.putTokens(try StoredCredential(credential: .numbered(1)).encoded(), in: root)
            }
            let store = FileTokenCredentialStore(fileURL: disk.file)
            let large = TokenCredential(
                accessToken: String(repeating: "x", count: 200_000), expiresAt: .distantFuture, refreshToken: "r")
            await #expect(throws: TokenStoreError.diskFull) { try await store.save(large) }
            #expect(try await store.load() == .numbered(1))
            #expect(try Self.names(disk) == ["tokens.json", "tokens.json.lock"])
            try await store.save(.numbered(2))
            #expect(try await store.load() == .numbered(2))
        }

        @Test(
            "On a read-only disk tokens are read, and no refresh begins that couldn't be stored",
            arguments: [true, false])
        func readOnly(hasLockFile: Bool) async throws {
            let disk = try SmallDisk(pages: 16, isReadOnly: true) { root in
                try Self.putTokens(try StoredCredential(credential: .numbered(1)).encoded(), in: root)
                if hasLockFile { try #require(mknod(root + "/store/tokens.json.lock", S_IFREG | 0o600, 0) == 0) }
            }
            let store = FileTokenCredentialStore(fileURL: disk.file)
            #expect(try await store.load() == .numbered(1))
            await #expect(throws: TokenStoreError.readOnly) {
                try await store.exchange { old in
                    Issue.record("The body must not run")
                    return old
                }
            }
            await #expect(throws: TokenStoreError.readOnly) { try await store.save(.numbered(2)) }
            await #expect(throws: TokenStoreError.readOnly) { try await store.save(nil) }
            await #expect(throws: TokenStoreError.readOnly) {
                try await store.recordRefreshIntent(for: .numbered(1))
            }
            #expect(try await store.load() == .numbered(1))
        }

        @Test("An unreadable file on a read-only disk stays, and is reported each time")
        func corruptOnReadOnly() async throws {
            let disk = try SmallDisk(pages: 16, isReadOnly: true) { root in
                try Self.putTokens(Data("x".utf8), in: root)
            }
            let store = FileTokenCredentialStore(fileURL: disk.file)
            for _ in 0..<2 {
                await #expect {
                    try await store.load()
                } throws: { error in
                    if case TokenStoreError.corrupt(_, keptAt: nil) = error { true } else { false }
                }
            }
            #expect(try Self.names(disk) == ["tokens.json"])
        }

        @Test("A folder that can't be created on a read-only disk is reported as read-only")
        func folderOnReadOnly() async throws {
            let disk = try SmallDisk(pages: 16, isReadOnly: true) { _ in }
            let store = FileTokenCredentialStore(fileURL: disk.file)
            #expect(try await store.load() == nil)
            await #expect(throws: TokenStoreError.readOnly) { try await store.save(.numbered(1)) }
        }
    }
#endif
