import AtomNetworkingTesting
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

@Suite("A folder of responses", .limited)
struct FolderResponseStorageTests {
    private let fixture: StorageFixture

    init() throws { fixture = try StorageFixture() }

    @Test("It meets the contract")
    func contract() async throws {
        let folder = fixture.parent.url
        try await checkResponseStorage { place in
            FolderResponseStorage(.init(folder: folder.appendingPathComponent(place)))
        }.get()
    }

    @Test("Folders and files are for this user only, and a value is one file")
    func modes() throws {
        try fixture.storage().store("1", "a")
        #expect(fixture.entries == ["g.responses", "g.responses/a"])
        for folder in [fixture.parent["outer"], fixture.url, fixture.place("g.responses")] {
            #expect(try mode(of: folder) == 0o700)
        }
        #expect(try mode(of: fixture.place("g.responses/a")) == 0o600)
        #expect(try Data(contentsOf: fixture.place("g.responses/a")) == Data("1".utf8))
    }

    @Test("Reading and removing create nothing")
    func createsNothing() throws {
        let storage = fixture.storage()
        #expect(try storage.text("a") == nil)
        try storage.remove(named: "a", in: "g")
        try storage.move(group: "g", to: "h")
        try storage.removeAll(except: nil)
        #expect(try fixture.parent.names == [])
    }

    @Test("The folder may vanish at any time")
    func vanished() throws {
        let storage = fixture.storage()
        try storage.store("1", "a")
        try FileManager.default.removeItem(at: fixture.parent["outer"])
        #expect(try storage.text("a") == nil)
        try storage.store("2", "a")
        #expect(try storage.text("a") == "2")
    }

    @Test("What else is in the folder stays, and isn't counted")
    func foreign() throws {
        let storage = fixture.storage(capacity: 40_960)
        try FileManager.default.createDirectory(at: fixture.place("photos"), withIntermediateDirectories: true)
        try Data(count: 100_000).write(to: fixture.place("photos/a"))
        try Data("x".utf8).write(to: fixture.place("notes"))
        for number in 0..<20 { try storage.store("\(number)", "n\(number)") }
        try storage.removeAll(except: nil)
        #expect(fixture.entries == ["notes", "photos", "photos/a"])
    }

    // MARK: Room

    @Test("What was used least recently goes first, until a fifth of the room is free")
    func eviction() throws {
        let storage = fixture.storage(capacity: 10 * 4_096)
        for number in 0..<10 {
            try storage.store("\(number)", "n\(number)", number < 5 ? "g" : "h")
            fixture.pass(120)
        }
        #expect(fixture.taken == 10 * 4_096)
        #expect(try storage.text("n0") == "0")
        try storage.store("10", "n10")
        let left = try (0...10).filter { try storage.text("n\($0)", $0 < 5 || $0 == 10 ? "g" : "h") == "\($0)" }
        #expect(left == [0, 4, 5, 6, 7, 8, 9, 10])
    }

    @Test("A use is written down at most once a minute")
    func touches() throws {
        let storage = fixture.storage()
        try storage.store("1", "a")
        let file = fixture.place("g.responses/a")
        let stored = try status(of: file).modified
        #expect(abs(stored.timeIntervalSince(fixture.clock.value)) < 0.001)
        for (seconds, isWritten) in [(59.0, false), (2, true), (59, false), (-3_600, true)] {
            let before = try status(of: file).modified
            fixture.pass(seconds)
            #expect(try storage.text("a") == "1")
            let after = try status(of: file).modified
            #expect(isWritten ? abs(after.timeIntervalSince(fixture.clock.value)) < 0.001 : after == before)
        }
    }

    @Test("A file from a time to come goes first")
    func future() throws {
        let storage = fixture.storage(capacity: 10 * 4_096)
        fixture.pass(86_400)
        try storage.store("f", "f")
        fixture.pass(-86_400)
        for number in 0..<9 { try storage.store("\(number)", "n\(number)") }
        try FolderResponseStorage(
            .init(folder: fixture.url, capacity: 8 * 4_096), now: { [fixture] in fixture.clock.value }
        )
        .store("x", "x")
        #expect(try storage.text("f") == nil)
    }

    @Test("A value of more than half of the room isn't stored, and an earlier one goes")
    func tooLarge() throws {
        let storage = fixture.storage(capacity: 100_000)
        try storage.store(Data(count: 50_000), named: "a", in: "g")
        #expect(try storage.data(named: "a", in: "g") == Data(count: 50_000))
        try storage.store(Data(count: 50_001), named: "a", in: "g")
        #expect(try storage.data(named: "a", in: "g") == nil)
        #expect(fixture.entries == ["g.responses"])
    }

    @Test("A file that is too large for the room isn't read")
    func grown() throws {
        try fixture.storage(capacity: 100_000).store(Data(count: 50_000), named: "a", in: "g")
        #expect(try fixture.storage(capacity: 99_999).data(named: "a", in: "g") == nil)
    }

    @Test("With no room, or less than none, nothing is stored and nothing fails", arguments: [0, -1, 8_000] as [Int64])
    func noRoom(capacity: Int64) throws {
        let storage = fixture.storage(capacity: capacity)
        try storage.store("1", "a")
        #expect(try storage.text("a") == nil)
    }

    @Test("Whatever two of them store, there is never more than the capacity and what one stores uncounted")
    func bounded() throws {
        var random = SeededGenerator(seed: 7)
        let capacity: Int64 = 400_000
        let storages = [fixture.storage(capacity: capacity), fixture.storage(capacity: capacity)]
        var (most, kept): (Int64, Int) = (0, 0)
        for round in 0..<600 {
            let storage = storages[Int.random(in: 0...1, using: &random)]
            let (name, group) = ("n\(Int.random(in: 0..<90, using: &random))", "g\(round % 5)")
            let value = Data(count: Int.random(in: 1...30_000, using: &random))
            fixture.pass(1)
            try storage.store(value, named: name, in: group)
            if try storage.data(named: name, in: group) == value { kept += 1 }
            most = max(most, fixture.taken)
        }
        #expect(kept == 600)
        #expect(most <= capacity + capacity / 10 && most > capacity / 2)
    }

    @Test("Groups without files are removed when the room is counted")
    func emptyGroups() throws {
        let storage = fixture.storage()
        try storage.store("1", "a", "one")
        try storage.remove(named: "a", in: "one")
        try fixture.storage().store("2", "a", "two")
        #expect(fixture.entries == ["two.responses", "two.responses/a"])
    }

    // MARK: What killed writers leave

    @Test("Whatever a killed writer has written, the old value is read")
    func prefixes() throws {
        let storage = fixture.storage()
        try storage.store("old value", "a")
        let new = Data("new value".utf8)
        for count in 0...new.count {
            let temporary = "g.responses/a.tmp-00000000000000\(String(format: "%02x", count))"
            try new.prefix(count).write(to: fixture.place(temporary))
            #expect(try storage.text("a") == "old value")
        }
        try storage.store("newer", "a")
        #expect(try storage.text("a") == "newer")
        #expect(fixture.entries.count == 12, "they may be another process's")
        fixture.pass(3_700)
        try fixture.storage().store("b", "b")
        #expect(fixture.entries == ["g.responses", "g.responses/a", "g.responses/b"])
    }

    @Test("What another process writes counts, and is left alone as long as there is room")
    func unfinished() throws {
        try fixture.storage().store("1", "a")
        let temporary = fixture.place("g.responses/b.tmp-0123456789abcdef")
        try Data(count: 8_192).write(to: temporary)
        let storage = fixture.storage(capacity: 5 * 4_096)
        fixture.pass(10)
        try storage.store("2", "c")
        try storage.store("3", "d")
        #expect(try status(of: temporary).st_size == 8_192)
        #expect(try storage.text("a") == "1")
        try storage.store("4", "e")
        #expect(try status(of: temporary).st_size == 8_192)
        #expect(try storage.text("a") == nil)
    }

    @Test("A group that a killed process has begun to remove is removed", arguments: [true, false])
    func halfRemoved(byCounting: Bool) throws {
        try fixture.storage().store("1", "a")
        let aside = fixture.place("g.responses.ended-0123456789abcdef")
        try FileManager.default.moveItem(at: fixture.place("g.responses"), to: aside)
        if byCounting {
            try fixture.storage().store("2", "a", "h")
        } else {
            try fixture.storage().removeAll(except: "h")
        }
        #expect(fixture.entries == (byCounting ? ["h.responses", "h.responses/a"] : []))
    }

    // MARK: Groups that have ended

    @Test("A group that has ended is an empty file for a day, which drops what is stored")
    func ended() throws {
        let (one, other) = (fixture.storage(), fixture.storage())
        try other.store("1", "a")
        try one.end(group: "g")
        #expect(fixture.entries == ["g.responses"])
        #expect(try mode(of: fixture.place("g.responses")) == 0o600)
        fixture.pass(86_399)
        try other.store("2", "a")
        try other.remove(named: "a", in: "g")
        try other.removeAll(except: nil)
        #expect(try other.text("a") == nil)
        #expect(try status(of: fixture.place("g.responses")).kind == S_IFREG)
        fixture.pass(2)
        try other.store("3", "a")
        #expect(try one.text("a") == "3")
    }

    @Test("A second end counts from then on, and the mark is there meanwhile")
    func endedAgain() throws {
        let storage = fixture.storage()
        try storage.end(group: "g")
        let mark = try status(of: fixture.place("g.responses")).st_ino
        fixture.pass(80_000)
        try storage.end(group: "g")
        #expect(try status(of: fixture.place("g.responses")).st_ino == mark)
        fixture.pass(80_000)
        try storage.store("1", "a")
        #expect(try storage.text("a") == nil)
    }

    @Test("An old mark is removed when the room is counted, and a young one stays")
    func oldMarks() throws {
        let storage = fixture.storage()
        try storage.end(group: "one")
        fixture.pass(86_401)
        try storage.end(group: "two")
        try storage.store("1", "a")
        #expect(fixture.entries == ["g.responses", "g.responses/a", "two.responses"])
    }

    @Test("A mark of a clock that was years ahead doesn't count")
    func futureMark() throws {
        let storage = fixture.storage()
        fixture.pass(1e8)
        try storage.end(group: "g")
        fixture.pass(-1e8)
        try storage.store("1", "a")
        #expect(try storage.text("a") == "1")
    }

    @Test("A group that was moved to an old mark is there")
    func moveToOldMark() throws {
        let storage = fixture.storage()
        try storage.end(group: "h")
        try storage.store("1", "a")
        fixture.pass(86_401)
        try storage.move(group: "g", to: "h")
        #expect(try storage.text("a", "h") == "1")
    }

    @Test("Removing a group removes whatever is in its folder")
    func oddContent() throws {
        let storage = fixture.storage()
        try storage.store("1", "a")
        try FileManager.default.createDirectory(
            at: fixture.place("g.responses/folder/inner"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: fixture.place("g.responses/folder/inner/x"))
        try FileManager.default.createSymbolicLink(
            at: fixture.place("g.responses/link"), withDestinationURL: fixture.parent.url)
        #expect(mkfifo(fixture.place("g.responses/pipe").path, 0o600) == 0)
        try storage.end(group: "g")
        #expect(fixture.entries == ["g.responses"])
        #expect(try fixture.parent.names == ["outer"])
    }

    // MARK: What is refused

    @Test("A folder that is a link is refused, and nothing is written where it leads")
    func linkedFolder() throws {
        let storage = fixture.storage()
        try FileManager.default.createDirectory(at: fixture.parent["outer"], withIntermediateDirectories: true)
        let target = fixture.parent["target"]
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: fixture.url, withDestinationURL: target)
        for call in calls(storage) { #expect(FolderError.code(of: call) == ELOOP) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == [])
    }

    /// All that a storage can do.
    private func calls(_ storage: FolderResponseStorage) -> [() throws -> Void] {
        [
            { _ = try storage.text("a") }, { try storage.store("1", "a") },
            { try storage.remove(named: "a", in: "g") }, { try storage.move(group: "g", to: "h") },
            { try storage.end(group: "g") }, { try storage.removeAll(except: nil) },
        ]
    }

    @Test("A folder that others can write to is refused", arguments: [0o770, 0o702] as [mode_t])
    func writableFolder(mode: mode_t) throws {
        let storage = fixture.storage()
        try storage.store("1", "a")
        chmod(fixture.url.path, mode)
        for call in calls(storage) { #expect(FolderError.code(of: call) == 0) }
        chmod(fixture.url.path, 0o700)
        chmod(fixture.place("g.responses").path, mode)
        for call in calls(storage).prefix(3) { #expect(FolderError.code(of: call) == 0) }
    }

    @Test("A file in place of the folder is refused, also without end")
    func fileForFolder() throws {
        let storage = fixture.storage()
        try FileManager.default.createDirectory(at: fixture.parent["outer"], withIntermediateDirectories: true)
        try Data().write(to: fixture.url)
        for call in calls(storage) { #expect(FolderError.code(of: call) == ENOTDIR) }
    }

    @Test("A URL that names no folder on this machine is refused")
    func url() throws {
        for text in ["https://example.com/a", "file:a", "file:///", "file:///a/../b"] {
            let storage = FolderResponseStorage(.init(folder: try #require(URL(string: text))))
            for call in calls(storage) { #expect(FolderError.code(of: call) == 0) }
        }
    }

    @Test("A link, a pipe or a folder in place of a value isn't read; a new value replaces the first two")
    func notPlain() throws {
        let storage = fixture.storage()
        try storage.store("1", "b")
        try Data("secret".utf8).write(to: fixture.parent["secret"])
        let file = fixture.place("g.responses/a")
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: fixture.parent["secret"])
        #expect(FolderError.code { _ = try storage.text("a") } == ELOOP)
        try storage.store("2", "a")
        #expect(try storage.text("a") == "2")
        #expect(try Data(contentsOf: fixture.parent["secret"]) == Data("secret".utf8))
        try storage.remove(named: "a", in: "g")
        #expect(mkfifo(file.path, 0o600) == 0)
        #expect(throws: FolderError.self) { try storage.text("a") }
        try storage.store("3", "a")
        #expect(try storage.text("a") == "3")
        try storage.remove(named: "a", in: "g")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(throws: FolderError.self) { try storage.text("a") }
        #expect(throws: FolderError.self) { try storage.store("4", "a") }
        #expect(fixture.entries == ["g.responses", "g.responses/a", "g.responses/b"])
        try storage.end(group: "g")
        #expect(fixture.entries == ["g.responses"])
    }

    @Test("A link in place of a group isn't followed, and doesn't keep other groups from being stored")
    func linkedGroup() throws {
        let storage = fixture.storage()
        try storage.store("1", "a", "h")
        let target = fixture.parent["target"]
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: target.appendingPathComponent("a"))
        try FileManager.default.createSymbolicLink(
            at: fixture.place("g.responses"), withDestinationURL: target)
        #expect(FolderError.code { _ = try storage.text("a") } == ELOOP)
        #expect(FolderError.code { try storage.store("1", "a") } == ELOOP)
        try fixture.storage().store("2", "a", "h")
        try storage.removeAll(except: nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path) == ["a"])
    }

    @Test("A value of another user isn't read", .enabled(if: geteuid() == 0, "only root can give files away"))
    func strangersFile() throws {
        let storage = fixture.storage()
        try storage.store("1", "a")
        let file = fixture.place("g.responses/a")
        try #require(chown(file.path, 65_534, 65_534) == 0)
        #expect(FolderError.code { _ = try storage.text("a") } == 0)
        try #require(chown(fixture.url.path, 65_534, 65_534) == 0)
        for call in calls(storage) { #expect(FolderError.code(of: call) == 0) }
    }

    @Test("An error doesn't say where the folder is")
    func withoutPath() throws {
        try FileManager.default.createDirectory(at: fixture.parent["outer"], withIntermediateDirectories: true)
        try Data().write(to: fixture.url)
        for call in calls(fixture.storage()) {
            let error = #expect(throws: FolderError.self) { try call() }
            #expect(error.map { "\($0)\($0.localizedDescription)" }?.contains("outer") == false)
        }
        let missing = FolderError(EACCES, during: "open", permission: "read “\(fixture.url.path)”")
        #expect(missing.description.contains("open failed with code") && !missing.description.contains("outer"))
    }

    // MARK: Side by side

    @Test("Two that move one group at the same time lose nothing")
    func movesMeet() async throws {
        let fixture = fixture
        for _ in 0..<10 {
            for number in 0..<40 { try fixture.storage().store("\(number)", "n\(number)", "old") }
            for number in 30..<50 { try fixture.storage().store("new \(number)", "n\(number)", "new") }
            await withTaskGroup(of: Int32?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        await onAThreadOfItsOwn {
                            FolderError.code { try fixture.storage().move(group: "old", to: "new") }
                        }
                    }
                }
                for await code in group { #expect(code == nil) }
            }
            for number in 0..<50 {
                #expect(
                    try fixture.storage().text("n\(number)", "new") == (number < 30 ? "\(number)" : "new \(number)"))
            }
            #expect(fixture.entries.count == 51)
            try fixture.storage().removeAll(except: nil)
        }
    }

    @Test("What is stored while a group ends is gone when both are through")
    func endsWhileStoring() async throws {
        let fixture = fixture
        for round in 0..<20 {
            let group = "g\(round)"
            let hasBegun = DispatchSemaphore(value: 0)
            async let stored = onAThreadOfItsOwn {
                let storage = fixture.storage()
                return FolderError.code {
                    for number in 0..<100 {
                        try storage.store("\(number)", "n\(number % 10)", group)
                        if number == 5 { hasBegun.signal() }
                    }
                }
            }
            let ended = await onAThreadOfItsOwn {
                hasBegun.wait()
                return FolderError.code { try fixture.storage().end(group: group) }
            }
            #expect(await stored == nil)
            #expect(ended == nil)
            #expect(fixture.entries.allSatisfy { $0.hasSuffix(".responses") })
        }
        #expect(fixture.entries.count == 20)
    }
}
