import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The keeper of a credential in a store", .timeLimit(.minutes(5)))
struct StoreKeeperTests {
    private let time = ManualClock()
    private let disk = RecordingTokenCredentialStore()

    private func session() -> SessionActor {
        SessionActor(keeper: StoreKeeper(disk), policy: RefreshPolicy(), time: time)
    }

    @Test("Operations run one after the other, in the order of the calls")
    func turns() async {
        let session = session()
        let isFree = Signal()
        let order = Locked<[Int]>([])
        let first = session.keeper.serially(for: session) {
            await isFree.wait()
            order.set(order.value + [0])
        }
        let others = (1..<20).map { number in
            session.keeper.serially(for: session) { order.set(order.value + [number]) }
        }
        #expect(order.value.isEmpty)
        isFree.raise()
        await first.value
        for other in others { await other.value }
        #expect(order.value == Array(0..<20))
    }

    @Test("An operation that reads the store does not wait for itself")
    func readInOperation() async {
        disk.stored = .issued(1)
        let session = session()
        let read = await session.keeper.serially(for: session) { await session.keeper.contents(for: session) }.value
        #expect(read == .issued(1))
    }

    @Test("An empty store is read as an empty credential, and a store that can't be read as none")
    func contents() async {
        let session = session()
        #expect(await session.keeper.contents(for: session) == .empty)
        disk.loadError = DiskFailure()
        #expect(await session.keeper.contents(for: session) == nil)
    }

    @Test("A sign-out is written in its turn, and returns what was stored")
    func replaced() async throws {
        disk.stored = .issued(1)
        let session = session()
        let isFree = Signal()
        let earlier = session.keeper.serially(for: session) { await isFree.wait() }
        let write = session.keeper.replace(by: nil, in: 0, for: session)
        isFree.raise()
        await earlier.value
        let replacement = await write()
        #expect(replacement.found == .issued(1), "this is what is to be revoked")
        #expect(replacement.failure == nil)
        #expect(disk.writes == [nil])
    }

    @Test("A write that failed is tried again after 1, 2, 4 and 8 s, until the store takes it")
    func triedAgain() async throws {
        disk.saveError = DiskFailure()
        let session = session()
        await #expect(throws: AuthenticationError.self) { try await session.signIn(with: .issued(1)) }
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
        await #expect(throws: AuthenticationError.self) { try await session?.signIn(with: .issued(1)) }
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
        await #expect(throws: AuthenticationError.self) { try await session.signIn(with: .issued(1)) }
        while let alarm = time.nextAlarm {
            let reads = disk.operations.count
            time.advance(by: time.now.duration(to: alarm))
            try #require(await eventually { disk.operations.count > reads })
            await session.keeper.serially(for: session) {}.value
        }
        #expect(session.guarded.with { $0.held?.credential } == .issued(1))
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
        await #expect(throws: AuthenticationError.self) { try await session.signIn(with: .issued(1)) }
        disk.saveError = nil
        disk.stored = .issued(2)
        time.advance(by: .seconds(1))
        #expect(await eventually { session.guarded.with { $0.held?.credential } == .issued(2) })
        #expect(disk.writes.isEmpty)
    }

    @Test("A session with an unfinished write lives on after the app has released it")
    func outlivesItsOwner() async throws {
        disk.saveError = DiskFailure()
        var session: SessionActor? = session()
        await #expect(throws: AuthenticationError.self) { try await session?.signIn(with: .issued(1)) }
        weak let weakly = session
        session = nil
        #expect(weakly != nil)
        disk.saveError = nil
        time.advance(by: .seconds(1))
        #expect(await eventually { disk.stored == .issued(1) })
        #expect(await eventually { weakly == nil })
    }
}

@Suite("The body of a store's exchange", .timeLimit(.minutes(5)))
struct SingleRunTests {
    @Test("A second run gets the result of the first")
    func again() async throws {
        let run = SingleRun()
        #expect(try await run.once { .issued(1) } == .issued(1))
        #expect(try await run.once { .issued(2) } == .issued(1))
    }

    @Test("A second run during the first is refused")
    func during() async throws {
        let run = SingleRun()
        let result = try await run.once {
            await #expect(throws: TokenStoreError.self) { try await run.once { .issued(2) } }
            return .issued(1)
        }
        #expect(result == .issued(1))
    }
}

@Suite("The report of a refresh")
struct RefreshReportTests {
    @Test("The first outcome counts")
    func first() {
        let report = RefreshReport()
        #expect(report.outcome == nil)
        report.note(.granted(.issued(1), version: 0))
        report.note(.abandoned)
        #expect(report.granted == .issued(1))
    }

    @Test("What the store held is unknown until it is noted")
    func replaced() {
        let report = RefreshReport()
        #expect(report.replaced.credential == nil)
        report.note(replaced: .issued(1))
        #expect(report.replaced.credential == .issued(1))
    }
}
