import Testing

@testable import AirlineServer

/// The rules of tokens, without a server and without waiting.
@Suite(.limited) final class TokenLedgerTests {
    private var ledger = TokenLedger()
    private var policy = TokenPolicy()

    private func signIn(at now: Double = 0) -> TokenLedger.Issue {
        ledger.signIn(
            TokenLedger.Grant(user: "ada", clientID: "app"), isRefreshable: true, policy: policy, now: now)
    }

    private func refresh(
        _ issue: TokenLedger.Issue, as client: String = "app", at now: Double = 0
    ) -> TokenLedger.RefreshOutcome {
        ledger.refresh(issue.refreshToken ?? "", clientID: client, policy: policy, now: now)
    }

    private func refreshed(_ issue: TokenLedger.Issue, at now: Double = 0) throws -> TokenLedger.Issue {
        switch refresh(issue, at: now) {
        case .refreshed(let issue), .repeated(let issue): return issue
        case .reused, .refused:
            Issue.record("The refresh failed.")
            return issue
        }
    }

    private func isRefused(
        _ issue: TokenLedger.Issue, as client: String = "app", at now: Double = 0
    ) -> Bool {
        if case .refused = refresh(issue, as: client, at: now) { true } else { false }
    }

    private func isReused(_ issue: TokenLedger.Issue, at now: Double = 0) -> Bool {
        if case .reused = refresh(issue, at: now) { true } else { false }
    }

    @Test func anAccessTokenExpiresToTheFractionOfASecond() {
        policy.accessTokenLifetime = 1.5
        let issue = signIn()
        #expect(ledger.access(by: issue.accessToken, now: 1.25)?.user == "ada")
        #expect(ledger.access(by: issue.accessToken, now: 1.5)?.user == nil)
        #expect(ledger.access(by: "made up", now: 0)?.user == nil)
    }

    @Test func aReusedRefreshTokenEndsItsSessionAndNoOther() throws {
        let (first, other) = (signIn(), signIn())
        let second = try refreshed(first)
        #expect(second.refreshToken != first.refreshToken)
        #expect(isReused(first))
        #expect(ledger.access(by: second.accessToken, now: 0)?.user == nil)
        #expect(isRefused(second))
        #expect(ledger.access(by: other.accessToken, now: 0)?.user == "ada")
        #expect(!isRefused(other))
    }

    @Test func withinTheGracePeriodAUsedRefreshTokenReturnsItsSuccessor() throws {
        policy.gracePeriod = 10
        let first = signIn()
        let second = try refreshed(first)
        #expect(try refreshed(first, at: 9.9).refreshToken == second.refreshToken)
        #expect(isReused(first, at: 10))
    }

    @Test func aTokenWhoseSuccessorWasUsedHasNoGrace() throws {
        policy.gracePeriod = 10
        let first = signIn()
        _ = try refreshed(refreshed(first))
        #expect(isReused(first))
    }

    @Test func aRefreshTokenIsOfOneClient() {
        #expect(isRefused(signIn(), as: "another"))
    }

    @Test func aClientRevokesItsOwnTokens() {
        let (first, second) = (signIn(), signIn())
        var hasEnded = ledger.revoke(first.accessToken, clientID: "app")
        #expect(!hasEnded)
        #expect(ledger.access(by: first.accessToken, now: 0)?.user == nil && !isRefused(first))
        hasEnded = ledger.revoke(second.refreshToken ?? "", clientID: "another")
        #expect(!hasEnded)
        #expect(ledger.access(by: second.accessToken, now: 0)?.user == "ada")
        hasEnded = ledger.revoke(second.refreshToken ?? "", clientID: "app")
        #expect(hasEnded)
        #expect(ledger.access(by: second.accessToken, now: 0)?.user == nil && isRefused(second))
    }
}
