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

#if os(Linux) && canImport(Glibc)
    @Suite(
        "A folder of responses on a disk that fails",
        .enabled(if: SmallDisk.isAllowed, "this process may not mount a disk: it isn't root, or in a container"),
        .limited)
    struct FolderResponseStorageDiskTests {
        private func storage(_ disk: SmallDisk) -> FolderResponseStorage {
            FolderResponseStorage(.init(folder: URL(fileURLWithPath: disk.path("responses"))))
        }

        private func entries(_ disk: SmallDisk) -> [String] {
            (FileManager.default.subpaths(atPath: disk.path("responses")) ?? []).sorted()
        }

        @Test("On a full disk a write throws and leaves nothing, the old value is read, and a group can end")
        func full() throws {
            let disk = try SmallDisk(pages: 32) { _ in }
            let storage = storage(disk)
            try storage.store("old", "a")
            // There is room for a part of it.
            #expect(FolderError.code { try storage.store(Data(count: 200_000), named: "a", in: "g") } == ENOSPC)
            try disk.fill()
            #expect(FolderError.code { try storage.store("new", "a") } == ENOSPC)
            #expect(FolderError.code { try storage.store("new", "b", "h") } == ENOSPC)
            #expect(try storage.text("a") == "old")
            #expect(entries(disk).filter { $0.contains("/") } == ["g.responses/a"])
            try storage.end(group: "g")
            #expect(try storage.text("a") == nil)
            unlink(disk.path("filler"))
            try storage.store("new", "a")
            try storage.store("new", "b", "h")
            #expect(entries(disk) == ["g.responses", "h.responses", "h.responses/b"])
        }

        @Test("On a disk that takes no more files a group can end")
        func noFiles() throws {
            let disk = try SmallDisk(pages: 32, files: 20) { _ in }
            let storage = storage(disk)
            try storage.store("1", "a")
            for number in 0..<20 { _ = mknod(disk.path("filler-\(number)"), S_IFREG | 0o600, 0) }
            #expect(FolderError.code { try storage.store("2", "b") } == ENOSPC)
            try storage.end(group: "g")
            unlink(disk.path("filler-0"))
            try storage.store("3", "a")
            #expect(entries(disk) == ["g.responses"])
        }

        @Test("On a read-only disk values are read, and everything else throws")
        func readOnly() throws {
            let disk = try SmallDisk(pages: 32, isReadOnly: true) { root in
                let folder = URL(fileURLWithPath: root + "/responses")
                try FolderResponseStorage(.init(folder: folder)).store("old", "a")
            }
            let storage = FolderResponseStorage(
                .init(folder: URL(fileURLWithPath: disk.path("responses"))), now: { Date() + 3_600 })
            #expect(try storage.text("a") == "old")
            let calls: [() throws -> Void] = [
                { try storage.store("1", "a") }, { try storage.remove(named: "a", in: "g") },
                { try storage.move(group: "g", to: "h") }, { try storage.end(group: "g") },
                { try storage.removeAll(except: nil) },
            ]
            for call in calls { #expect(FolderError.code(of: call) == EROFS) }
            #expect(entries(disk) == ["g.responses", "g.responses/a"])
        }
    }
#endif

#if (os(Linux) || os(macOS)) && compiler(>=6.3)
    @Suite("A folder of responses in processes", .limited(minutes: 10))
    struct FolderResponseStorageProcessTests {
        private let fixture: StorageFixture

        init() throws { fixture = try StorageFixture() }

        @Test("A process that is killed while it writes leaves whole values")
        func killedWriter() async throws {
            let path = fixture.url.path
            var seen: Set<UInt8> = []
            var leftovers = 0
            for _ in 0..<(TestExtent.isWhole ? 24 : 6) {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                    let storage = FolderResponseStorage(.init(folder: URL(fileURLWithPath: path)))
                    let begun = DispatchSemaphore(value: 0)
                    Thread {
                        // At any moment, but not before the first write has ended.
                        for _ in 0..<Int.random(in: 2...4) { begun.wait() }
                        for _ in 0..<Int.random(in: 0..<20_000) { sched_yield() }
                        kill(getpid(), SIGKILL)
                    }.start()
                    // More iterations than the process survives.
                    for number in 0..<1_000_000 {
                        let value = Data(repeating: UInt8(truncatingIfNeeded: number), count: 500_000)
                        try storage.store(value, named: "a", in: "g")
                        begun.signal()
                    }
                }
                let value = try #require(try fixture.storage(capacity: 8 << 20).data(named: "a", in: "g"))
                #expect(value.count == 500_000 && Set(value).count == 1)
                seen.formUnion(value.prefix(1))
                leftovers = max(leftovers, fixture.entries.count - 2)
            }
            #expect(seen.count > 1)
            fixture.pass(7_200)
            try fixture.storage(capacity: 8 << 20).store("new", "a")
            #expect(fixture.entries == ["g.responses", "g.responses/a"], "\(leftovers) were left")
        }

        @Test("Four processes that store, read, move and end at the same time fail at nothing, and keep the bound")
        func fourProcesses() async throws {
            let path = fixture.url.path
            let capacity: Int64 = 600_000
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        await #expect(processExitsWith: .success) {
                            [path = path as String, number = number as Int, capacity = capacity as Int64] in
                            var random = SeededGenerator(seed: UInt64(number))
                            let storage = FolderResponseStorage(
                                .init(folder: URL(fileURLWithPath: path), capacity: capacity))
                            for round in 0..<600 {
                                let group = "g\(Int.random(in: 0..<6, using: &random) + round / 200 * 6)"
                                let name = "n\(Int.random(in: 0..<9, using: &random))"
                                switch Int.random(in: 0..<40, using: &random) {
                                case 0: try storage.end(group: group)
                                case 1: try storage.removeAll(except: group)
                                case 2...4: try storage.move(group: group, to: "g\(round / 200 * 6)")
                                case 5...20:
                                    guard let value = try storage.data(named: name, in: group) else { continue }
                                    #expect(Set(value).count == 1 && value.count > 9_000)
                                default:
                                    let size = Int.random(in: 9_001...40_000, using: &random)
                                    try storage.store(
                                        Data(repeating: UInt8(round % 250), count: size), named: name, in: group)
                                }
                            }
                        }
                    }
                }
            }
            #expect(fixture.taken <= capacity * 14 / 10 && fixture.taken > 0)
            #expect(!fixture.entries.contains { $0.contains(".tmp-") || $0.contains(".ended-") })
        }

        @Test("Without descriptors each call throws, nothing is left behind, and it goes on when there are some")
        func noDescriptors() async {
            await #expect(processExitsWith: .success) {
                let fixture = try StorageFixture()
                let storage = fixture.storage(capacity: 100_000)
                try storage.store("old", "a")
                var limit = rlimit()
                // The constant is of another type on each system.
                #if canImport(Glibc)
                    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                #else
                    let files = RLIMIT_NOFILE
                #endif
                getrlimit(files, &limit)
                limit.rlim_cur = 128
                setrlimit(files, &limit)
                var taken: [Int32] = []
                while case let one = open("/dev/null", O_RDONLY), one >= 0 { taken.append(one) }
                for free in 0...6 {
                    var (spare, failures) = (0, 0)
                    for _ in 0..<free {
                        guard let one = taken.popLast() else { break }
                        close(one)
                        spare += 1
                    }
                    let calls: [() throws -> Void] = [
                        { _ = try storage.text("a") }, { try storage.store(Data(count: 40_000), named: "b", in: "h") },
                        { try storage.move(group: "h", to: "g") }, { try storage.remove(named: "b", in: "g") },
                        { try storage.end(group: "i") }, { try storage.removeAll(except: "g") },
                    ]
                    for call in calls {
                        let code = FolderError.code(of: call)
                        #expect(code == nil || code == EMFILE)
                        if code != nil { failures += 1 }
                    }
                    #expect(failures == (free == 0 ? calls.count : free > 4 ? 0 : failures))
                    for _ in 0..<spare { taken.append(open("/dev/null", O_RDONLY)) }
                }
                for one in taken { close(one) }
                #expect(try storage.text("a") == "old")
                #expect(!fixture.entries.contains { $0.contains(".tmp-") })
            }
        }
    }
#endif
