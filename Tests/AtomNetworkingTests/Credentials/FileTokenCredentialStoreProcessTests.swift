#if os(Linux) || os(macOS)
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

    /// A program other than the SDK that locks a file.
    private final class LockingProcess: Sendable {
        private let process: Process
        private let input = Pipe()
        private let output = Pipe()

        /// Starts to wait for the lock, or tries once.
        init(_ lock: URL, onlyTries: Bool = false) async throws {
            process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(Python.path))
            let program = """
                import fcntl, sys
                file = open(sys.argv[1], "a")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | (fcntl.LOCK_NB if sys.argv[2] == "try" else 0))
                    print("locked", flush=True)
                except BlockingIOError:
                    print("busy", flush=True)
                sys.stdin.read()
                """
            process.arguments = ["-c", program, lock.path, onlyTries ? "try" : "wait"]
            process.standardInput = input
            process.standardOutput = output
            // Another test's child must not keep this one's input open.
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            await waitForFewDescriptors()
            try process.run()
        }

        deinit {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }

        /// The next word of its output.
        func word() async -> String {
            let handle = output.fileHandleForReading
            return await onAThreadOfItsOwn {
                String(decoding: handle.availableData, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }

        func send(_ signal: Int32) {
            kill(process.processIdentifier, signal)
        }

        /// Waits until the process has ended, which closes its end of the pipe.
        func end() async {
            try? input.fileHandleForWriting.close()
            let process = process
            await onAThreadOfItsOwn { process.waitUntilExit() }
        }
    }

    @Suite(
        "A file of tokens that other processes share",
        .enabled(if: Python.path != nil, "no python3 to take the lock with"), .limited(minutes: 10))
    struct FileTokenCredentialStoreProcessTests {
        private let folder: TemporaryFolder
        private let lock: URL

        init() throws {
            folder = try TemporaryFolder()
            lock = folder["tokens.json.lock"]
        }

        @Test("Another process gets the lock when an exchange is over, and not before")
        func othersAreKeptOut() async throws {
            let held = try await HeldExchange(folder.store())
            let during = try await LockingProcess(lock, onlyTries: true)
            #expect(await during.word() == "busy")
            await during.end()
            try await held.end()
            let afterwards = try await LockingProcess(lock, onlyTries: true)
            #expect(await afterwards.word() == "locked")
            await afterwards.end()
        }

        @Test(
            "A store gets the lock when the process that has it gives it back, or is killed", arguments: [0, SIGKILL])
        func waitsForOthers(signal: Int32) async throws {
            _ = try await folder.store().exchange { $0 }
            let other = try await LockingProcess(lock)
            #expect(await other.word() == "locked")
            let time = AlarmWatchingTimeSource()
            let store = FileTokenCredentialStore(fileURL: folder.file, lockTimeout: .seconds(45), time: time)
            let saving = Task { try await store.save(.numbered(1)) }
            await time.settings(1)
            #expect(try await store.load() == nil)
            if signal != 0 { other.send(signal) }
            await other.end()
            time.manual.advance(by: .seconds(1))
            try await saving.value
            #expect(try await store.load() == .numbered(1))
        }

        @Test("A store doesn't wait forever for a paused process")
        func stoppedProcess() async throws {
            _ = try await folder.store().exchange { $0 }
            let other = try await LockingProcess(lock)
            #expect(await other.word() == "locked")
            other.send(SIGSTOP)
            let time = AlarmWatchingTimeSource()
            let store = FileTokenCredentialStore(fileURL: folder.file, lockTimeout: .seconds(45), time: time)
            let first = Task { try await store.exchange { _ in .numbered(1) } }
            await time.settings(1)
            let second = Task { try await store.save(.numbered(2)) }
            await time.settings(2)
            time.manual.advance(by: .seconds(45))
            await #expect(throws: TokenStoreError.lockTimedOut(.seconds(45))) { try await first.value }
            await #expect(throws: TokenStoreError.lockTimedOut(.seconds(45))) { try await second.value }
            #expect(try await store.load() == nil)
            other.send(SIGKILL)
            await other.end()
            try await store.save(.numbered(3))
        }

        @Test("With the system's clock it waits and retries too")
        func systemClock() async throws {
            _ = try await folder.store().exchange { $0 }
            let other = try await LockingProcess(lock)
            #expect(await other.word() == "locked")
            let impatient = FileTokenCredentialStore(fileURL: folder.file, lockTimeout: .milliseconds(20))
            await #expect(throws: TokenStoreError.lockTimedOut(.milliseconds(20))) { try await impatient.save(nil) }
            // The machine may be loaded.
            let patient = FileTokenCredentialStore(fileURL: folder.file, lockTimeout: .seconds(280))
            let saving = Task { try await patient.save(.numbered(1)) }
            await other.end()
            try await saving.value
            #expect(try await folder.store().load() == .numbered(1))
        }

        @Test("A lock file that was removed during a wait doesn't count as the lock")
        func removedLockFile() async throws {
            let folder = try #require(try StoreFolder(folder.url.path, creating: false))
            let old = try #require(try folder.tryLock("x"))
            #expect(try folder.tryLock("x") == nil)
            try FileManager.default.removeItem(at: self.folder["x"])
            let new = try #require(try folder.tryLock("x"))
            #expect(try #require(new.status()).st_ino != #require(old.status()).st_ino)
            #expect(try folder.tryLock("x") == nil)
            new.unlock()
            #expect(try folder.tryLock("x") != nil)
        }

        #if compiler(>=6.3)
            @Test("Exchanges of four processes lose nothing")
            func fourProcesses() async throws {
                let path = folder.file.path
                try await folder.store().save(.numbered(0))
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            await #expect(processExitsWith: .success) { [path = path as String] in
                                let file = URL(fileURLWithPath: path)
                                let store = FileTokenCredentialStore(fileURL: file, lockTimeout: .seconds(280))
                                for _ in 0..<50 {
                                    _ = try await store.exchange { old in
                                        // It can't be nil: it was stored
                                        // before, and no process removes it.
                                        .numbered(try #require(old?.number) + 1)
                                    }
                                }
                            }
                        }
                    }
                }
                #expect(try await folder.store().load() == .numbered(200))
            }

            @Test("A process that is killed while it writes leaves the old tokens or the new ones")
            func killedWriter() async throws {
                let path = folder.file.path
                var seen: Set<Int> = []
                for _ in 0..<(TestExtent.isWhole ? 12 : 4) {
                    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                        let store = FileTokenCredentialStore(fileURL: URL(fileURLWithPath: path))
                        let begun = DispatchSemaphore(value: 0)
                        Thread {
                            // At any moment, but not before the first write has
                            // ended.
                            for _ in 0..<Int.random(in: 2...4) { begun.wait() }
                            for _ in 0..<Int.random(in: 0..<20_000) { sched_yield() }
                            kill(getpid(), SIGKILL)
                        }.start()
                        // More iterations than the process survives.
                        for _ in 0..<100_000 {
                            _ = try await store.exchange { old in
                                begun.signal()
                                let number = (old?.number ?? 0) + 1
                                // Large enough that a write takes some time.
                                let token = String(repeating: "x", count: 300_000) + "-\(number)"
                                return TokenCredential(
                                    accessToken: token, expiresAt: .distantFuture, refreshToken: token)
                            }
                        }
                    }
                    let credential = try await folder.store().load()
                    #expect(credential?.accessToken == credential?.refreshToken)
                    seen.insert(credential?.number ?? 0)
                }
                #expect(seen.count > 1)
                try await folder.store().save(.numbered(1))
                #expect(try folder.names == ["tokens.json", "tokens.json.lock"])
            }
        #endif
    }
#endif
