import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The keeper of a credential in a store", .limited)
struct StoreKeeperTests {
    private let time = ManualClock()
    private let disk = RecordingTokenCredentialStore()

    private func session() -> SessionActor {
        SessionActor(keeper: .store(disk), policy: RefreshPolicy(), time: time)
    }

    @Test("Operations run one after the other, in the order in which they took their turns")
    func turns() async {
        let session = session()
        let isFree = Signal()
        let order = Locked<[Int]>([])
        var turns: [SessionTurn] = []
        for _ in 0..<20 { turns.append(await session.takeTurn()) }
        await withTaskGroup(of: Void.self) { group in
            for (number, turn) in turns.enumerated().reversed() {
                group.addTask {
                    await turn.run {
                        if number == 0 { await isFree.wait() }
                        order.set(order.value + [number])
                    }
                }
            }
            #expect(order.value.isEmpty)
            isFree.raise()
        }
        #expect(order.value == Array(0..<20))
    }

    @Test("What a refresh has come to is known even if the store then fails")
    func exchange() async {
        disk.stored = .issued(1)
        disk.saveError = DiskFailure()
        let (outcome, written) = await SessionKeeper.store(disk).transaction { stored in (stored, .issued(2)) }
        #expect(outcome == .issued(1))
        #expect(throws: DiskFailure.self) { try written.get() }
        #expect(disk.stored == .issued(1))
    }

    @Test("A sign-out is written in its turn, and what was stored is revoked")
    func replaced() async throws {
        let session = try SessionFixture(
            store: disk,
            bearer: { $0.revocationEndpoint = try? AuthorizationEndpoint(host: "auth.example.com", path: "/revoke") })
        let actor = try #require(session.atom.manager.session)
        let isFree = Signal()
        let earlier = await actor.takeTurn()
        let operation = Task { await earlier.run { await isFree.wait() } }
        let atom = session.atom
        let signingOut = Task { try await atom.signOut() }
        try #require(await eventually { actor.gate.with { $0.store.hasToWrite(again: false) } })
        #expect(disk.writes.isEmpty)
        // Another process refreshes meanwhile.
        disk.stored = .issued(1)
        isFree.raise()
        await operation.value
        try await signingOut.value
        #expect(disk.writes == [nil])
        #expect(await eventually { session.transport.exchanges.contains { $0.form["token"] == "R1" } })
    }

    @Test("A write that failed is tried again after 1, 2, 4 and 8 s, until the store takes it")
    func triedAgain() async throws {
        disk.saveError = DiskFailure()
        let session = session()
        await #expect(throws: AtomError.self) { try await session.signIn(with: .issued(1)) }
        for seconds in [1, 2, 4, 8] {
            let reads = disk.operations.count
            try #require(await eventually { time.nextAlarm == time.now + .seconds(seconds) })
            if seconds == 8 { disk.saveError = nil }
            time.advance(by: .seconds(seconds))
            try #require(await eventually { disk.operations.count > reads })
        }
        #expect(await eventually { disk.stored == .issued(1) })
        #expect(await eventually { time.alarmCount == 0 }, "nothing is left to be written")
    }

    @Test("A store that never takes a write is told of twice, and keeps its session for some ten minutes")
    func givenUp() async throws {
        disk.saveError = DiskFailure()
        let begin = time.now
        var session: SessionActor? = session()
        let told = Locked(0)
        let events = try #require(session?.events)
        let listener = Task {
            for await case .credentialNotStored in events { told.with { $0 += 1 } }
        }
        await #expect(throws: AtomError.self) { try await session?.signIn(with: .issued(1)) }
        weak let weakly = session
        session = nil
        while let alarm = time.nextAlarm {
            let reads = disk.operations.count
            time.advance(by: time.now.duration(to: alarm))
            try #require(await eventually { disk.operations.count > reads })
            try #require(await eventually { time.nextAlarm != nil || weakly == nil })
        }
        #expect(begin.duration(to: time.now) == .seconds(663))
        await listener.value
        #expect(told.value == 2)
    }

    @Test("What was given up is written with what comes next, and then it is stored")
    func writtenAfterAll() async throws {
        disk.saveError = DiskFailure()
        let session = session()
        await #expect(throws: AtomError.self) { try await session.signIn(with: .issued(1)) }
        while let alarm = time.nextAlarm {
            let reads = disk.operations.count
            time.advance(by: time.now.duration(to: alarm))
            try #require(await eventually { disk.operations.count > reads })
            await session.takeTurn().run {}
        }
        #expect(session.gate.with { $0.held?.credential } == .issued(1))
        disk.saveError = nil
        var events = session.events.makeAsyncIterator()
        try await session.signIn(with: .issued(2))
        #expect(disk.stored == .issued(2))
        var isTold = false
        while !isTold, let event = await events.next() { if case .credentialStored = event { isTold = true } }
        #expect(isTold)
    }

    @Test("A write that failed is given up if another process has stored something since")
    func newerInStore() async throws {
        disk.saveError = DiskFailure()
        let session = session()
        await #expect(throws: AtomError.self) { try await session.signIn(with: .issued(1)) }
        disk.saveError = nil
        disk.stored = .issued(2)
        time.advance(by: .seconds(1))
        #expect(await eventually { session.gate.with { $0.held?.credential } == .issued(2) })
        #expect(disk.writes.isEmpty)
    }

    @Test("A session with an unfinished write lives on after the app has released it")
    func outlivesItsOwner() async throws {
        disk.saveError = DiskFailure()
        var session: SessionActor? = session()
        await #expect(throws: AtomError.self) { try await session?.signIn(with: .issued(1)) }
        weak let weakly = session
        session = nil
        #expect(weakly != nil)
        disk.saveError = nil
        time.advance(by: .seconds(1))
        #expect(await eventually { disk.stored == .issued(1) })
        #expect(await eventually { weakly == nil })
    }
}

@Suite("The body of a store's exchange", .limited)
struct SingleRunTests {
    @Test("A second run gets the result of the first")
    func again() async throws {
        let run = SingleRun<Int>()
        #expect(run.outcome == nil)
        #expect(try await run.once { (1, .issued(1)) } == .issued(1))
        #expect(try await run.once { (2, .issued(2)) } == .issued(1))
        #expect(run.outcome == 1)
    }

    @Test("A second run during the first is refused")
    func during() async throws {
        let run = SingleRun<Int>()
        let result = try await run.once {
            await #expect(throws: TokenStoreError.self) { try await run.once { (2, .issued(2)) } }
            return (1, .issued(1))
        }
        #expect(result == .issued(1))
    }
}
