import Foundation
import Testing

@testable import AtomNetworking

@Suite("A file of tokens with several users", .limited(minutes: 10))
struct FileTokenCredentialStoreConcurrencyTests {
    private let folder: TemporaryFolder
    private let time = AlarmWatchingTimeSource()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func store(waiting timeout: Duration = .seconds(45)) -> FileTokenCredentialStore {
        FileTokenCredentialStore(fileURL: folder.file, lockTimeout: timeout, time: time)
    }

    @Test("A store waits for longer than a refresh may take")
    func defaultTimeout() async throws {
        let held = try await HeldExchange(store())
        // Uses the clock of the store that came first.
        let waiting = Task { [folder] in try await folder.store().save(nil) }
        await time.settings(1)
        time.manual.advance(by: .seconds(ServiceTimeout().resource) + .seconds(10))
        time.manual.advance(by: .seconds(5))
        await #expect(throws: TokenStoreError.lockTimedOut(.seconds(45))) { try await waiting.value }
        try await held.end()
    }

    @Test("Exchanges and saves of several stores run one at a time, in the order of arrival")
    func order() async throws {
        let stores = [store(), store(), store()]
        let held = try await HeldExchange(stores[0])
        let order = Locked<[Int]>([])
        let tasks = Locked<[Task<Void, any Error>]>([])
        for number in 1...24 {
            let task = Task {
                _ = try await stores[number % 3].exchange { old in
                    order.with { $0.append(number) }
                    #expect((old?.number ?? 0) == number - 1)
                    return .numbered(number)
                }
            }
            tasks.with { $0.append(task) }
            await time.settings(number)
        }
        try await held.end()
        for task in tasks.value { try await task.value }
        #expect(order.value == Array(1...24))
        #expect(try await store().load() == .numbered(24))
    }

    @Test("A wait that times out throws, and doesn't block the next waiter")
    func timeout() async throws {
        let held = try await HeldExchange(store(), returning: .numbered(1))
        let patient = Task { [store = store(waiting: .seconds(60))] in try await store.exchange { _ in .numbered(2) } }
        await time.settings(1)
        let impatient = Task { [store = store(waiting: .seconds(5))] in try await store.save(.numbered(3)) }
        await time.settings(2)
        time.manual.advance(by: .seconds(5))
        await #expect(throws: TokenStoreError.lockTimedOut(.seconds(5))) { try await impatient.value }
        try await held.end()
        #expect(try await patient.value == .numbered(2))
        #expect(try await store().load() == .numbered(2))
    }

    @Test("A store without a timeout gets only a lock that is free", arguments: [0, -1])
    func noWaiting(seconds: Int) async throws {
        try await store(waiting: .seconds(seconds)).save(.numbered(1))
        let held = try await HeldExchange(store(), returning: .numbered(2))
        await #expect(throws: TokenStoreError.lockTimedOut(.seconds(seconds))) {
            try await store(waiting: .seconds(seconds)).save(.numbered(3))
        }
        try await held.end()
        #expect(try await store().load() == .numbered(2))
    }

    @Test("Reading doesn't wait for the lock")
    func loadDuringExchange() async throws {
        try await store().save(.numbered(1))
        let held = try await HeldExchange(store(), returning: .numbered(2))
        #expect(try await store().load() == .numbered(1))
        try await held.end()
        #expect(try await store().load() == .numbered(2))
    }

    @Test("A cancelled task leaves the queue, and the next one moves up")
    func cancellation() async throws {
        let held = try await HeldExchange(store(), returning: .numbered(1))
        let cancelled = Task { [store = store()] in try await store.save(.numbered(9)) }
        await time.settings(1)
        let next = Task { [store = store()] in try await store.exchange { $0 } }
        await time.settings(2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await held.end()
        #expect(try await next.value == .numbered(1))
    }

    @Test("A task that was already cancelled doesn't get the lock")
    func cancelledBefore() async throws {
        let gate = Signal()
        let task = Task { [store = store()] in
            await gate.wait()
            try await store.save(.numbered(1))
        }
        task.cancel()
        gate.raise()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store().load() == nil)
    }

    @Test("The result of a refresh is written even if its task is cancelled")
    func cancelledDuringExchange() async throws {
        let begun = Signal()
        let gate = Signal()
        let task = Task { [store = store()] in
            try await store.exchange { _ in
                begun.raise()
                await gate.wait()
                return .numbered(1)
            }
        }
        await begun.wait()
        task.cancel()
        gate.raise()
        #expect(try await task.value == .numbered(1))
        #expect(try await store().load() == .numbered(1))
    }

    @Test("A note that is made outside an exchange waits for the exchange of another store")
    func noteOutside() async throws {
        try await store().save(.numbered(1))
        let held = try await HeldExchange(store(), returning: .numbered(2))
        let noting = Task { [store = store()] in try await store.recordRefreshIntent(for: .numbered(1)) }
        await time.settings(1)
        try await held.end()
        #expect(try await noting.value == false)
        #expect(try await store().load() == .numbered(2))
    }

    @Test("A file is moved aside only if it still can't be read when its reader has the lock")
    func corruptMeanwhile() async throws {
        let held = try await HeldExchange(store())
        try Data("x".utf8).write(to: folder.file)
        let loading = Task { [store = store()] in try await store.load() }
        await time.settings(1)
        try StoredCredential(credential: .numbered(1)).encoded().write(to: folder.file)
        try await held.end()
        #expect(try await loading.value == .numbered(1))
        #expect(try folder.names == ["tokens.json", "tokens.json.lock"])
    }

    @Test("Two stores that find an unreadable file move it aside only once")
    func corruptTwice() async throws {
        for _ in 0..<20 {
            try Data("x".utf8).write(to: folder.file)
            let places = await withTaskGroup(of: URL?.self) { group in
                for _ in 0..<4 {
                    group.addTask { [store = folder.store()] in
                        do {
                            #expect(try await store.load() == nil)
                            return nil
                        } catch TokenStoreError.corrupt(_, let place) {
                            return place
                        } catch {
                            Issue.record(error)
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += [$1].compactMap { $0 } }
            }
            #expect(places.count == 1)
        }
        #expect(try folder.names.count { $0.contains("corrupt") } == 20)
    }

    @Test("A storm of exchanges, saves, notes, readers and cancellations loses nothing")
    func storm() async throws {
        let stores = (0..<4).map { _ in store() }
        try await stores[0].save(.numbered(0))
        let rounds = TestExtent.isWhole ? 400 : 100
        let running = Locked(0)
        let ended = Locked(0)
        let cancelled = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<rounds {
                let store = stores[round % 4]
                group.addTask {
                    _ = try await store.exchange { old in
                        running.with { $0 += 1 }
                        #expect(running.value == 1)
                        if round % 8 == 0 { _ = try await store.recordRefreshIntent(for: .numbered(round)) }
                        await Task.yield()
                        running.with { $0 -= 1 }
                        ended.with { $0 += 1 }
                        return .numbered((old?.number ?? 0) + 1)
                    }
                }
                group.addTask {
                    let loaded = try await store.load()
                    #expect(loaded?.number != nil)
                }
                let victim = Task {
                    do {
                        _ = try await store.exchange { old in
                            ended.with { $0 += 1 }
                            return .numbered((old?.number ?? 0) + 1)
                        }
                    } catch is CancellationError {
                        cancelled.with { $0 += 1 }
                    }
                }
                group.addTask {
                    await Task.yield()
                    victim.cancel()
                    try await victim.value
                }
            }
            try await group.waitForAll()
        }
        #expect(ended.value + cancelled.value == 2 * rounds)
        #expect(try await stores[1].load()?.number == ended.value)
        #expect(try folder.names == ["tokens.json", "tokens.json.lock"])
    }
}
