import Foundation
import Testing

@testable import AtomNetworking

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("A file of tokens in the wrong place", .limited)
struct FileTokenCredentialStoreRefusalTests {
    private static let isRoot = geteuid() == 0

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The reason with which each method of a store rejects the file; the same
    /// for all methods.
    private func refusal(_ file: URL, location: SourceLocation = #_sourceLocation) async throws -> String? {
        let store = FileTokenCredentialStore(fileURL: file)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.load() },
            { try await store.save(.numbered(1)) },
            { try await store.save(nil) },
            {
                _ = try await store.exchange { _ in
                    Issue.record("The body must not run", sourceLocation: location)
                    return nil
                }
            },
            { _ = try await store.recordRefreshIntent(for: .numbered(1)) },
        ]
        var reasons: Set<String> = []
        for call in calls {
            let error = await #expect(throws: TokenStoreError.self, sourceLocation: location) { try await call() }
            guard case .refused(let reason)? = error else {
                Issue.record("\(String(describing: error))", sourceLocation: location)
                continue
            }
            reasons.insert(reason)
        }
        #expect(reasons.count == 1, sourceLocation: location)
        return reasons.first
    }

    @Test("A lock file that has a different identity each time is refused")
    func lockFileWithoutIdentity() throws {
        let folder = try #require(try StoreFolder(folder.url.path, creating: false))
        let looks = Locked(0)
        let error = #expect(throws: TokenStoreError.self) {
            // The test must end even if the code doesn't.
            try folder.tryLock("x") { _, _ in
                looks.with {
                    $0 += 1
                    return $0 > 1_000
                }
            }
        }
        guard case .refused(let reason)? = error else {
            Issue.record("\(String(describing: error)) after \(looks.value) looks")
            return
        }
        #expect(reason.contains("local disk"))
        #expect(looks.value < 100)
        #expect(try folder.tryLock("x") != nil, "it is given back")
    }

    @Test("A lock file that is replaced a few times while it is taken is locked in the end")
    func replacedLockFile() throws {
        let folder = try #require(try StoreFolder(folder.url.path, creating: false))
        let looks = Locked(0)
        let file = try folder.tryLock("x") { _, _ in
            looks.with {
                $0 += 1
                return $0 > 3
            }
        }
        #expect(file != nil)
        #expect(looks.value == 4)
    }

    @Test(
        "A URL that names no file on this machine is refused",
        arguments: [
            ("https://example.com/tokens.json", "URL"), ("file://example.com/tokens.json", "URL"),
            ("file:tokens.json", "absolute"), ("file:///", "name a file"), ("file:///var/..", "name a file"),
            ("file:///var/../tokens.json", ".."),
        ])
    func url(url: String, reason: String) async throws {
        #expect(try await refusal(try #require(URL(string: url)))?.contains(reason) == true)
    }

    @Test("A symbolic link in place of the file is refused, also a broken one", arguments: [true, false])
    func linkedFile(leadsSomewhere: Bool) async throws {
        let target = folder["target"]
        if leadsSomewhere { try StoredCredential(credential: .numbered(7)).encoded().write(to: target) }
        try FileManager.default.createSymbolicLink(at: folder.file, withDestinationURL: target)
        #expect(try await refusal(folder.file) == "the file is a symbolic link")
        #expect(try status(of: folder.file).st_mode & S_IFMT == S_IFLNK)
        #expect(FileManager.default.fileExists(atPath: target.path) == leadsSomewhere)
    }

    @Test(
        "A folder that is a symbolic link is refused, also with a slash or a dot after it",
        arguments: ["", "/", "/.", "//./"])
    func linkedFolder(suffix: String) async throws {
        try FileManager.default.createDirectory(at: folder["target"], withIntermediateDirectories: false)
        chmod(folder["target"].path, 0o700)
        try FileManager.default.createSymbolicLink(at: folder["link"], withDestinationURL: folder["target"])
        let file = URL(fileURLWithPath: "\(folder["link"].path)\(suffix)/tokens.json")
        #expect(try await refusal(file) == "its folder is a symbolic link")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["target"].path) == [])
    }

    @Test("A link further up is followed, and leads to the same lock")
    func linkFurtherUp() async throws {
        let direct = FileTokenCredentialStore(fileURL: folder["target/inner/tokens.json"])
        try await direct.save(.numbered(1))
        try FileManager.default.createSymbolicLink(at: folder["link"], withDestinationURL: folder["target"])
        let time = AlarmWatchingTimeSource()
        let linked = FileTokenCredentialStore(
            fileURL: folder["link/inner/tokens.json"], lockTimeout: .seconds(5), time: time)
        #expect(try await linked.load() == .numbered(1))
        let held = try await HeldExchange(linked)
        async let waiting = FileTokenCredentialStore(
            fileURL: folder["target/inner/tokens.json"], lockTimeout: .seconds(5), time: SystemTimeSource()
        ).exchange { $0 }
        // It waits with the other stores of the process, so the clock of the
        // first store counts.
        await time.settings(1)
        try await held.end()
        #expect(try await waiting == nil)
    }

    @Test("A folder or a pipe in place of the file is refused")
    func notPlain() async throws {
        try FileManager.default.createDirectory(at: folder["tokens"], withIntermediateDirectories: false)
        #expect(try await refusal(folder["tokens"]) == "the file is not a regular file")
        try #require(mkfifo(folder["pipe"].path, 0o600) == 0)
        #expect(try await refusal(folder["pipe"]) == "the file is not a regular file")
    }

    @Test("A file in place of the folder is refused")
    func noFolder() async throws {
        try Data().write(to: folder["folder"])
        #expect(try await refusal(folder["folder/tokens.json"]) == "its folder is not a directory")
    }

    @Test("A file that others may write to is refused", arguments: [0o620, 0o602, 0o666] as [mode_t])
    func writableFile(mode: mode_t) async throws {
        try StoredCredential(credential: .numbered(7)).encoded().write(to: folder.file)
        chmod(folder.file.path, mode)
        #expect(try await refusal(folder.file) == "other users can write to the file")
    }

    @Test("A folder in which others could replace the file is refused", arguments: [0o770, 0o702, 0o777] as [mode_t])
    func writableFolder(mode: mode_t) async throws {
        chmod(folder.url.path, mode)
        let reason = try #require(try await refusal(folder.file))
        #expect(reason.contains(String(mode, radix: 8)))
        #expect(try folder.names == [])
    }

    @Test("A folder that others may only read or add to is good", arguments: [0o755, 0o1777] as [mode_t])
    func harmlessFolder(mode: mode_t) async throws {
        chmod(folder.url.path, mode)
        try await folder.store().save(.numbered(1))
        #expect(try await folder.store().load() == .numbered(1))
    }

    @Test("A lock file that is a symbolic link or a folder is refused")
    func lockFile() async throws {
        try FileManager.default.createSymbolicLink(at: folder["tokens.json.lock"], withDestinationURL: folder["x"])
        await #expect(throws: TokenStoreError.refused("the file is a symbolic link")) {
            try await folder.store().save(.numbered(1))
        }
        try FileManager.default.removeItem(at: folder["tokens.json.lock"])
        try FileManager.default.createDirectory(at: folder["tokens.json.lock"], withIntermediateDirectories: false)
        await #expect(throws: TokenStoreError.refused("the file is not a regular file")) {
            try await folder.store().save(.numbered(1))
        }
        #expect(try folder.names == ["tokens.json.lock"])
    }

    @Test("A file that belongs to another user is refused", .enabled(if: isRoot, "only root can give files away"))
    func strangersFile() async throws {
        try StoredCredential(credential: .numbered(7)).encoded().write(to: folder.file)
        chmod(folder.file.path, 0o600)
        try #require(chown(folder.file.path, 65_534, 65_534) == 0)
        #expect(try await refusal(folder.file) == "the file belongs to another user")
    }

    @Test("A folder that belongs to another user is refused", .enabled(if: isRoot, "only root can give folders away"))
    func strangersFolder() async throws {
        try #require(chown(folder.url.path, 65_534, 65_534) == 0)
        #expect(try await refusal(folder.file) == "its folder belongs to another user")
    }

    @Test("Without write permission the error is readOnly, without read permission the system's code")
    func codes() {
        #expect(TokenStoreError(EDQUOT, during: "write", isWriting: true) == .diskFull)
        #expect(TokenStoreError(ENOSPC, during: "open", isWriting: true) == .diskFull)
        #expect(TokenStoreError(EROFS, during: "open") == .readOnly)
        #expect(TokenStoreError(EACCES, during: "open", isWriting: true) == .readOnly)
        #expect(TokenStoreError(EACCES, during: "open") == .system(operation: "open", code: Int(EACCES)))
        #expect(TokenStoreError(EIO, during: "read") == .system(operation: "read", code: Int(EIO)))
        let read = "read the file “/a/session.json”"
        for code in [EACCES, EPERM] {
            #expect(
                TokenStoreError(code, during: "open", permission: read, protectsFiles: false)
                    == .refused("this process has no permission to \(read)"))
        }
        #expect(TokenStoreError(EACCES, during: "open", isWriting: true, permission: read) == .readOnly)
        #expect(TokenStoreError(EIO, during: "open", permission: read) == .system(operation: "open", code: Int(EIO)))
    }

    @Test(
        "A file or a folder that can't be read is named, with the permission that is missing",
        .enabled(if: !isRoot, "root may read every file"))
    func unreadable() async throws {
        try StoredCredential(credential: .numbered(7)).encoded().write(to: folder.file)
        chmod(folder.file.path, 0)
        let store = FileTokenCredentialStore(fileURL: folder.file)
        let file = await #expect(throws: TokenStoreError.self) { _ = try await store.load() }
        #expect(file?.description.contains("no permission to read the file “") == true)
        #expect(file?.description.contains("/\(folder.file.lastPathComponent)”") == true)
        chmod(folder.url.path, 0)
        defer { chmod(folder.url.path, 0o700) }
        let place = await #expect(throws: TokenStoreError.self) { _ = try await store.load() }
        #expect(place?.description.contains("no permission to read its folder “") == true)
    }

    @Test("A file that the system can't decrypt yet is locked, not read-only", arguments: [false, true])
    func protected(isWriting: Bool) {
        #expect(TokenStoreError(EPERM, during: "open", isWriting: isWriting, protectsFiles: true) == .locked)
        #expect(TokenStoreError(EPERM, during: "read", protectsFiles: true) == .locked)
        #expect(TokenStoreError(EPERM, during: "rename", isWriting: true, protectsFiles: true) == .readOnly)
        let other = TokenStoreError(EPERM, during: "open", isWriting: isWriting, protectsFiles: false)
        #expect(other == (isWriting ? .readOnly : .system(operation: "open", code: Int(EPERM))))
    }

    @Test("A child process doesn't inherit open descriptors")
    func closedOnExec() throws {
        let file = try #require(Descriptor(folder["x"].path, O_RDWR | O_CREAT))
        #expect(fcntl(file.number, F_GETFD) & FD_CLOEXEC != 0)
    }
}
