import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Storms of requests against an authorization server that rotates refresh
/// tokens, over real connections.
@Suite(.serialized, .limited(minutes: 10)) struct RefreshStormTests {
    @Test(arguments: StormSize.all, TransportUnderTest.all)
    func anExpiredTokenIsRefreshedOnceAndNeverSent(_ size: StormSize, over transport: TransportUnderTest) async throws {
        let fixture = try StormFixture(over: transport)
        defer { fixture.server.stop() }
        for round in 1...size.rounds {
            let tally = try await fixture.run(size.requests, trigger: .expiry, round: round)
            #expect(tally == CallerStorm.Tally(answered: size.requests))
            let counts = fixture.server.counts
            #expect(counts.refreshes == round)
            #expect(counts.accepted == round * size.requests)
            #expect(counts.dead == 0)
        }
        fixture.expectOneRefreshEach(size.rounds)
        fixture.report("expired", size)
    }

    @Test(arguments: StormSize.all, TransportUnderTest.all)
    func aTokenRevokedWhileInUseIsRefreshedOnce(_ size: StormSize, over transport: TransportUnderTest) async throws {
        let fixture = try StormFixture(over: transport)
        defer { fixture.server.stop() }
        for round in 1...size.rounds {
            let deadBefore = fixture.server.counts.dead
            let tally = try await fixture.run(size.requests, trigger: .revocation, round: round)
            #expect(tally == CallerStorm.Tally(answered: size.requests))
            let counts = fixture.server.counts
            #expect(counts.refreshes == round)
            #expect(counts.accepted == round * size.requests)
            // Only requests that were on the wire when the first 401 came.
            #expect((1...fixture.exchangesAtOnce(of: size.requests)).contains(counts.dead - deadBefore))
        }
        fixture.expectOneRefreshEach(size.rounds)
        fixture.report("revoked", size)
    }

    @Test(arguments: [StormTrigger.expiry, .revocation], TransportUnderTest.all)
    func twoServicesThatShareAStoreShareEveryRefresh(
        _ trigger: StormTrigger, over transport: TransportUnderTest
    ) async throws {
        let size = StormSize.short
        let fixture = try StormFixture(over: transport, services: 2)
        defer { fixture.server.stop() }
        for round in 1...size.rounds {
            let tally = try await fixture.run(size.requests, trigger: trigger, round: round)
            #expect(tally == CallerStorm.Tally(answered: size.requests))
            #expect(fixture.server.counts.refreshes == round)
            #expect(fixture.server.counts.accepted == round * size.requests)
        }
        if trigger == .expiry { #expect(fixture.server.counts.dead == 0) }
        fixture.expectOneRefreshEach(size.rounds)
    }

    @Test(arguments: [StormTrigger.expiry, .revocation], TransportUnderTest.all)
    func whoLeavesAtAnyMomentTouchesNoOther(_ trigger: StormTrigger, over transport: TransportUnderTest) async throws {
        let size = StormSize.short
        let fixture = try StormFixture(over: transport)
        defer { fixture.server.stop() }
        var generator = SeededGenerator(seed: 3_000)
        var cancelled = 0
        for round in 1...size.rounds {
            // A moment is how many of the round's requests have been accepted; before the first one is often.
            var leavers: [Int: [Int]] = [:]
            for number in 0..<size.requests where Int.random(in: 0..<10, using: &generator) < 3 {
                let moment = max(Int.random(in: -size.requests / 2..<size.requests, using: &generator), 0)
                leavers[moment, default: []].append(number)
            }
            let tally = try await fixture.run(size.requests, trigger: trigger, round: round, leavers: leavers)
            #expect(tally.answered + tally.cancelled == size.requests)
            #expect(tally.answered >= size.requests - leavers.values.reduce(0) { $0 + $1.count })
            #expect(fixture.server.counts.refreshes == round)
            cancelled += tally.cancelled
        }
        #expect(cancelled > size.rounds * size.requests / 10)
        if trigger == .expiry { #expect(fixture.server.counts.dead == 0) }
        fixture.expectOneRefreshEach(size.rounds)
    }

    @Test(arguments: TransportUnderTest.all)
    func whoeverCameBeforeAnUnavailableServerRecoversHearsSoAndTheRestIsServed(
        over transport: TransportUnderTest
    ) async throws {
        let count = StormSize.small.requests
        let fixture = try StormFixture(over: transport)
        defer { fixture.server.stop() }
        fixture.server.failRefreshes(2)
        fixture.expireToken()
        for failure in 1...2 {
            let gate = Gate()
            fixture.server.holdRefreshes(until: gate)
            let wave = await fixture.begin(count)
            await fixture.allWait(count)
            gate.open()
            await fixture.end(wave)
            #expect(wave.tally == CallerStorm.Tally(failed: count))
            #expect(wave.errors.allSatisfy { $0.isAccessTokenRefreshFailure && $0.delivery == .notSent })
            #expect(Set(wave.errors.map(\.description)).count == 1)
            #expect(fixture.server.counts.refreshes == failure)
        }
        let wave = await fixture.begin(count)
        // They wait for the next refresh, which comes after a pause.
        await fixture.server.time.skippingPauses(upTo: .seconds(2)) { await fixture.end(wave) }
        #expect(wave.tally == CallerStorm.Tally(answered: count))
        #expect(fixture.server.counts == .init(refreshes: 3, tokensIssued: 1, accepted: count))
    }

    @Test(arguments: [false, true], TransportUnderTest.all)
    func tokensThatLiveForAMomentAreRefreshedNoMoreOftenThanTheyExpire(
        revokesSuperseded: Bool, over transport: TransportUnderTest
    ) async throws {
        let size = StormSize.short
        let lifetime = Duration.milliseconds(200)
        // On the way a token may expire before it has been accepted.
        let fixture = try StormFixture(over: transport, lifetime: lifetime, revokesSuperseded: revokesSuperseded) {
            $0.fruitlessRefreshLimit = .max
        }
        defer { fixture.server.stop() }
        let time = fixture.server.time
        // A millisecond passes with each request.
        fixture.server.onAccepted { _ in time.advance(by: .milliseconds(1)) }
        let begin = time.now
        for _ in 1...size.rounds {
            let wave = await fixture.begin(size.requests)
            await fixture.end(wave)
            // A retry's 401 goes to its caller: a token can expire twice in a row on the wire.
            let tally = wave.tally
            #expect(tally.answered + tally.failed == size.requests)
            #expect(wave.errors.allSatisfy { $0.isAuthorizationFailure })
        }
        // One is due every three quarters of a lifetime, counted from when the one before was sent.
        let due = Int(begin.duration(to: time.now) / (lifetime * 3 / 4)) + 1
        let counts = fixture.server.counts
        #expect((1...due).contains(counts.refreshes))
        #expect(counts.refreshes == counts.tokensIssued)
        #expect(counts.reuses == 0 && counts.invalidGrants == 0 && counts.unsigned == 0)
        fixture.expectOneRefreshEach(counts.refreshes)
    }
}

/// What happens to the token in a storm.
enum StormTrigger: Sendable {
    /// It has expired before the storm, and the client knows.
    case expiry
    /// The server revokes it while it is in use.
    case revocation
}

/// One session, its server and the services that share it.
private struct StormFixture {
    let server: LoopbackAuthorizationServer
    let tokens: RecordingTokens
    private let services: [Atom]
    private let configuration: ServiceConfiguration
    private let begin = ContinuousClock.now

    init(
        over transport: TransportUnderTest, services count: Int = 1, lifetime: Duration = .seconds(3_600),
        revokesSuperseded: Bool = false,
        bearer configure: (inout BearerAuthentication) -> Void = { _ in }
    ) throws {
        server = try LoopbackAuthorizationServer(lifetime: lifetime, revokesSuperseded: revokesSuperseded)
        tokens = RecordingTokens(server.signIn())
        configuration = try server.configuration(tokens: tokens, over: transport.make(), bearer: configure)
        services = (0..<count).map { [configuration] _ in
            var configuration = configuration
            configuration.transport = transport.make()
            return Atom(serviceConfiguration: configuration)
        }
    }

    /// Runs one storm: of every two refreshes one is held until all requests
    /// have been made, the other ends in their midst.
    ///
    /// - Parameter leavers: Who is cancelled when so many requests have been
    ///   accepted.
    func run(
        _ count: Int, trigger: StormTrigger, round: Int, leavers: [Int: [Int]] = [:]
    ) async throws -> CallerStorm.Tally {
        let storm = CallerStorm(count)
        let before = server.counts.accepted
        server.onAccepted { accepted in
            for number in leavers[accepted - before] ?? [] { storm.cancel(number) }
        }
        let gate = Gate(isOpen: round.isMultiple(of: 2))
        server.holdRefreshes(until: gate)
        switch trigger {
        case .expiry:
            server.expireAccessTokens()
            expireToken()
        case .revocation:
            var generator = SeededGenerator(seed: UInt64(round))
            server.revokeAccessTokens(afterAccepting: Int.random(in: 0..<count / 2, using: &generator))
        }
        await begin(storm)
        for number in leavers[0] ?? [] { storm.cancel(number) }
        gate.open()
        await end(storm)
        return storm.tally
    }

    func begin(_ count: Int) async -> CallerStorm {
        let storm = CallerStorm(count)
        await begin(storm)
        return storm
    }

    private func begin(_ storm: CallerStorm) async {
        let endpoint = server.endpoint()
        await storm.begin { [services] in services[$0 % services.count].enqueue(endpoint) }
    }

    /// Waits until every caller has been told, and none will be told again.
    func end(_ storm: CallerStorm) async {
        await storm.end()
        await withCheckedContinuation { continuation in
            configuration.dispatchQueue.async { continuation.resume() }
        }
    }

    /// Waits until so many requests and the refresh have been admitted.
    func allWait(_ count: Int) async {
        #expect(await eventually(seconds: 540) { services[0].manager.deadlines.count > count })
    }

    /// Makes the client find that its token has expired.
    func expireToken() {
        let current = tokens.tokenCredential
        tokens.put(
            TokenCredential(
                accessToken: current.accessToken, expiresAt: .distantPast, refreshToken: current.refreshToken))
    }

    /// How many requests can be on the wire together.
    func exchangesAtOnce(of requests: Int) -> Int {
        configuration.transport?.exchangesPerOrigin ?? requests
    }

    /// Prints the figures of a storm.
    func report(_ token: String, _ size: StormSize) {
        let counts = server.counts
        let seconds = (begin.duration(to: .now) / .milliseconds(1)).rounded() / 1_000
        print(
            "Storm, token \(token), \(size.testDescription) requests: \(counts.refreshes) refreshes,",
            "\(counts.accepted) answered, \(counts.dead) sent with a dead token, \(seconds) s")
    }

    /// The server granted so many refreshes, each with a new token, and the
    /// client wrote each result once.
    func expectOneRefreshEach(_ count: Int, location: SourceLocation = #_sourceLocation) {
        let counts = server.counts
        #expect(counts.refreshes == count, sourceLocation: location)
        #expect(counts.tokensIssued == count, sourceLocation: location)
        #expect(counts.reuses == 0, sourceLocation: location)
        #expect(counts.invalidGrants == 0, sourceLocation: location)
        #expect(counts.unsigned == 0, sourceLocation: location)
        #expect(counts.unknown == 0, sourceLocation: location)
        #expect(tokens.writes.count == count, sourceLocation: location)
    }
}
