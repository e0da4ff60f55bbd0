import Foundation
import Testing

@testable import AtomNetworking

@Suite("What a session remembers of tokens, writes and expiries", .limited)
struct SessionMemoryTests {
    private func credential(_ number: Int, life: Double = 3_600, refresh: String? = nil) -> TokenCredential {
        MachineFixture.credential(number, life: life, refresh: refresh)
    }

    private func moment(_ seconds: Double) -> Moment {
        Moment(
            instant: MachineFixture.instant(seconds), date: MachineFixture.epoch.addingTimeInterval(seconds))
    }

    private func held(_ credential: TokenCredential) -> HeldCredential {
        HeldCredential(read: credential, now: moment(0), policy: RefreshPolicy())
    }

    // MARK: Spent refresh tokens

    @Test("A spent refresh token leads to the newest credential, and that one back to all before it")
    func successors() {
        var spent = SpentTokens()
        spent.insert(credential(1), replacedBy: credential(2), isWanted: true)
        spent.insert(credential(2), replacedBy: credential(3), isWanted: true)
        spent.insert(credential(8), replacedBy: credential(9), isWanted: true)
        #expect(spent.successor(of: credential(1)) == credential(3))
        #expect(spent.predecessors(of: credential(3)) == ["r1", "r2"])
        spent.insert(credential(2), replacedBy: credential(3), isWanted: true)
        #expect(spent.predecessors(of: credential(3)) == ["r1", "r2"], "none of them twice")
    }

    @Test("A refresh token that the server issues again is not spent any more")
    func issuedAgain() {
        var spent = SpentTokens()
        spent.insert(credential(8), replacedBy: credential(9), isWanted: true)
        spent.insert(credential(1), replacedBy: credential(2), isWanted: true)
        spent.insert(credential(2), replacedBy: credential(1), isWanted: true)
        #expect(!spent.contains(credential(1)))
        #expect(spent.contains(credential(2)))
        #expect(spent.contains(credential(8)), "others are none of its business")
    }

    @Test("The last 64 spent refresh tokens are known")
    func spentLimit() {
        var spent = SpentTokens()
        for number in 1...64 {
            spent.insert(credential(number), replacedBy: credential(number + 1), isWanted: true)
        }
        #expect(spent.contains(credential(1)))
        spent.insert(credential(65), replacedBy: credential(66), isWanted: true)
        #expect(!spent.contains(credential(1)))
        #expect(spent.contains(credential(2)))
    }

    @Test("The last 16 access tokens are known, each once")
    func knownLimit() {
        var known = KnownTokens()
        for number in [1, 2, 2] + Array(3...16) { known.insert(held(credential(number))) }
        #expect(known.find("a1") != nil)
        known.insert(held(credential(17)))
        #expect(known.find("a1") == nil)
        #expect(known.find("a2") != nil)
    }

    @Test("An access token's owner is known by its refresh token, and by those exchanged for it")
    func tokensOfVersion() {
        var session = MachineFixture()
        _ = session.ask("a")
        let first = session.machine.tokenNumber
        #expect(session.machine.tokens(of: first) == ["r1"])
        #expect(session.machine.tokens(of: first + 1) == nil)
        session.now = 3_600
        _ = session.ask("b")
        session.refreshed(2, refresh: 1)
        #expect(session.machine.tokens(of: first) == nil)
        #expect(session.machine.tokens(of: session.machine.tokenNumber) == ["r2", "r1"])
        var fixed = MachineFixture()
        fixed.store = credential(1, refresh: "")
        _ = fixed.ask("a")
        #expect(fixed.machine.tokens(of: fixed.machine.tokenNumber) == ["a1"])
    }

    @Test("While a refresh runs, somebody is signed in only for whoever asks about a time when the token is good")
    func stateDuringRefresh() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.now = 3_580
        _ = session.ask("b")
        guard case .refreshing = session.machine.state() else {
            Issue.record("\(session.machine.state())")
            return
        }
        guard case .signedIn = session.machine.state(at: MachineFixture.instant(3_000)) else {
            Issue.record("the token was good then")
            return
        }
    }

    // MARK: Writes

    @Test("What was overwritten counts as old until the write has arrived, the first one and the last fifteen")
    func overwritten() {
        var store = StoreMemory()
        for number in 1...17 { store.willWrite(credential(number), isPending: false) }
        for number in 1...16 { #expect(store.judge(credential(number)) == .old) }
        store.willWrite(credential(18), isPending: false)
        #expect([1, 2, 3, 17].map { store.judge(credential($0)) } == [.old, .news, .old, .old])
        #expect(store.note(credential(18)) == .arrived)
        #expect(store.judge(credential(1)) == .news)
    }

    @Test("News ends what was overwritten and outstanding")
    func news() {
        var store = StoreMemory()
        for number in 1...2 { store.willWrite(credential(number), isPending: false) }
        store.outstanding = .overOld
        #expect(store.note(credential(3)) == .news)
        #expect(store.outstanding == nil)
        #expect(store.judge(credential(1)) == .news)
    }

    @Test("What is written again over itself is unchanged")
    func writtenTwice() {
        var store = StoreMemory()
        for _ in 1...2 { store.willWrite(credential(1), isPending: false) }
        #expect(store.isUnchanged(credential(1)))
    }

    @Test("What the variable is being set to may arrive at any moment, until it has been set")
    func pending() {
        var store = StoreMemory()
        for number in 1...2 { store.willWrite(credential(number), isPending: true) }
        #expect(store.note(credential(2)) == .arrived)
        #expect(store.judge(credential(1)) == .old)
        store.didSet(credential(1))
        #expect(store.judge(credential(1)) == .old, "it may have been set after the other one")
        #expect(store.note(credential(2)) == .arrived)
        #expect(store.judge(credential(1)) == .news)

        store.didSet(credential(2))
        store.willSetAgain()
        #expect(store.note(credential(3)) == .news)
        #expect(store.judge(credential(2)) == .old)
    }

    @Test("A store that keeps whole seconds only returns the same credential")
    func wholeSeconds() {
        var store = StoreMemory()
        store.willWrite(credential(1, life: 100.5), isPending: false)
        store.willWrite(credential(2), isPending: false)
        #expect(store.judge(credential(1, life: 100)) == .old)
        #expect(store.judge(credential(1, life: 101.5)) == .news)
        #expect(store.judge(credential(1, life: 102)) == .news)
    }

    @Test("A write that fails is tried 16 times in a row, and what comes next as often")
    func failures() {
        var store = StoreMemory()
        store.willWrite(credential(1), isPending: false)
        let now = MachineFixture.instant(0)
        let failure = AuthenticationError.credentialNotStored(cause: TokenStoreError.diskFull, delivery: .notSent)
        let tries = (1...33).map { _ in store.writeFailed(.overOld, failure, at: now) }
        #expect(tries == Array(repeating: true, count: 16) + [false] + Array(repeating: true, count: 15) + [false])
        #expect(store.outstanding == .overOld)
        let hadFailed = [store.wrote(credential(1), in: .nobody), store.wrote(credential(1), in: .nobody)]
        #expect(hadFailed == [true, false])
        #expect(store.outstanding == nil)
    }

    @Test("A write counts for what was written last, and a first one for its sign-in")
    func firstWrite() {
        var tenure = Tenure.nobody
        tenure.signInChanges(personLeaves: true)
        var store = StoreMemory()
        store.outstanding = .overAnything
        let hadFailed = store.wrote(credential(1), in: .nobody)
        #expect(!hadFailed)
        #expect(store.outstanding == nil, "nothing newer was committed")
        store.willWrite(credential(2), isPending: false)
        store.outstanding = .first(tenure)
        let isOlder = store.wrote(credential(1), in: tenure)
        #expect(!isOlder)
        #expect(store.outstanding == .first(tenure))
        store.forgetFirst(in: .nobody)
        #expect(store.outstanding == .first(tenure))
        store.forgetFirst(in: tenure)
        #expect(store.outstanding == nil)
    }

    // MARK: Expiries

    @Test("Another expiry counts if it differs by a second from the one that was read last")
    func readAgain() {
        var held = held(credential(1, life: 100))
        func end() -> Double? {
            [100.2, 100.8, 101.2, 1e9].last { held.isUsable(at: MachineFixture.instant($0)) }
        }
        #expect(end() == nil)
        held.readAgain(credential(1, life: 100.5), now: moment(0), policy: RefreshPolicy())
        #expect(end() == nil)
        held.readAgain(credential(1, life: 101), now: moment(0), policy: RefreshPolicy())
        #expect(end() == 100.8)
        held.readAgain(credential(1, life: 101.5), now: moment(0), policy: RefreshPolicy())
        #expect(end() == 100.8)
        held.readAgain(credential(1, life: 102.5), now: moment(0), policy: RefreshPolicy())
        #expect(end() == 101.2)
        let unknown = TokenCredential(accessToken: "a1", expiresAt: .distantFuture, refreshToken: "r1")
        held.readAgain(unknown, now: moment(0), policy: RefreshPolicy())
        #expect(end() == 1e9)
    }

    @Test("The same access token in a new session has its own expiry, and no failure")
    func heldAgain() {
        var held = held(credential(1, life: 100))
        held.finalFailure = FinalFailure(.missingCredential(delivery: .notSent), of: .refreshToken)
        held.ignoresLeeway = true
        let again = held.heldAgain(credential(1, life: 200), now: moment(0), policy: RefreshPolicy())
        #expect(again.finalFailure == nil)
        #expect(!again.ignoresLeeway)
        #expect(again.isUsable(at: MachineFixture.instant(150)))
    }

    @Test(
        "An access token is visible ASCII",
        arguments: [("!", true), ("~", true), (" ", false), ("\u{7F}", false), ("", false)])
    func visible(accessToken: String, canBeSent: Bool) {
        #expect(HeldCredential.canBeSent(accessToken) == canBeSent)
        let longest = String(repeating: "a", count: HTTPGrammar.longestFieldValue - "Bearer ".utf8.count)
        #expect(HeldCredential.canBeSent(longest) && !HeldCredential.canBeSent(longest + "a"))
    }

    @Test("What becomes known of the credential is kept in every phase that has one")
    func phases() {
        let refresh = SessionRefresh(number: 1, asked: .refreshToken, means: .refreshToken, credential: nil)
        let end = SessionEnd(held: held(credential(1)), error: .missingCredential(delivery: .notSent), means: .provider)
        let phases: [SessionPhase] = [
            .signedIn(held(credential(1))), .storing(held(credential(1))), .refreshing(nil, refresh), .waiting(nil),
            .backingOff(nil, until: MachineFixture.instant(1)), .ended(end), .loading(number: 1, end: end),
        ]
        for phase in phases {
            var phase = phase
            phase.held = held(credential(2))
            #expect(phase.held?.credential == credential(2), "\(phase)")
        }
        var signedOut = SessionPhase.signedOut
        signedOut.held = held(credential(2))
        #expect(signedOut.held == nil)
    }

    // MARK: Means

    @Test("What a provider has failed at is of no use to a refresh token's refresh that would ask it")
    func meansThatEnd() {
        let all: [RefreshMeans] = [.refreshToken, .refreshTokenOrProvider, .provider, .clientCredentials]
        for means in all {
            for failed in all {
                let isUseless = means == failed || (means, failed) == (.refreshTokenOrProvider, .provider)
                #expect(means.ends(with: failed) == isUseless, "\(means) after \(failed)")
            }
        }
    }

    @Test("At least one fruitless refresh is allowed")
    func fruitlessLimit() throws {
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
        var bearer = BearerAuthentication(
            endpoint: endpoint, client: ClientCredential(id: "client"), store: InMemoryTokenCredentialStore())
        bearer.fruitlessRefreshLimit = 0
        #expect(RefreshPolicy(bearer).fruitlessLimit == 1)
    }

    // MARK: Order

    @Test("While waiters are released, whoever has left the queue isn't signed for, and whoever came before them is")
    func order() {
        var session = MachineFixture()
        session.now = 3_600
        for name in ["a", "b", "c"] { _ = session.ask(name) }
        session.leave("c")
        _ = session.succeed(2)
        session.store = session.machine.held?.credential ?? session.store
        _ = session.stored()
        for name in ["a", "b"] {
            let (released, _) = session.machine.nextReleased(now: session.moment)
            #expect(released == name)
            #expect(session.signature(name) == "a2")
            #expect(session.signature("c") == "none")
        }
        #expect(session.release() == "")
        #expect(session.signature("c") == "a2")

        session.now = 7_200
        for name in ["d", "e"] { _ = session.ask(name) }
        session.leave("d")
        _ = session.succeed(3, refresh: 2)
        session.store = session.machine.held?.credential ?? session.store
        _ = session.stored()
        #expect(session.signature("d") == "a3")
        #expect(session.signature("e") == "none")
        #expect(session.release() == "e")
    }
}
