import AtomNetworking
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct DevicePollingTests {
    private static let start = MonotonicInstant(nanoseconds: 5_000_000_000)
    private static let offline = AtomError.session(URLError(.notConnectedToInternet))

    /// A sign-in with a code that lasts 600 seconds, of which 5 pass between two requests.
    private var polling = DevicePolling(interval: .seconds(5), expiry: instant(600))

    private static func instant(_ seconds: Int) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    private static func refusal(_ code: String) -> AtomError {
        .signIn(.refused(OAuthError(code: code)), delivery: .answered)
    }

    /// After how many seconds it is asked, if each request fails at once with the next error.
    private static func times(_ polling: DevicePolling, _ errors: [AtomError]) throws -> [Int64] {
        var polling = polling
        var instants = [try polling.begin(at: start)]
        for error in errors { instants.append(try polling.failed(error, at: instants[instants.count - 1])) }
        return instants.map { start.duration(to: $0).components.seconds }
    }

    /// What ends the sign-in when a request has failed; `nil` if it goes on.
    private func end(after error: AtomError, at seconds: Int = 5) -> AtomError? {
        var polling = polling
        do throws(AtomError) {
            _ = try polling.failed(error, at: Self.instant(seconds))
            return nil
        } catch {
            return error
        }
    }

    @Test("The first request waits for the interval, and so does each one while nobody has finished")
    func pending() throws {
        let pending = Self.refusal("authorization_pending")
        #expect(try Self.times(polling, [pending, pending, pending]) == [5, 10, 15, 20])
    }

    @Test("The server can slow it down, for good")
    func slowDown() throws {
        let pending = Self.refusal("authorization_pending")
        let slow = Self.refusal("slow_down")
        #expect(try Self.times(polling, [slow, pending, slow, pending]) == [5, 15, 25, 40, 55])
    }

    @Test(
        "A failure doubles the pause until the server has answered",
        arguments: [
            offline, .session(URLError(.timedOut)), .response(AtomResponse(statusCode: 500)),
            .response(AtomResponse(statusCode: 503)), .response(AtomResponse(statusCode: 429)),
            refusal("server_error"), refusal("temporarily_unavailable"),
        ])
    func failure(_ error: AtomError) throws {
        let pending = Self.refusal("authorization_pending")
        #expect(try Self.times(polling, [error, error, pending, error, pending]) == [5, 15, 35, 40, 50, 55])
        let slow = Self.refusal("slow_down")
        #expect(try Self.times(polling, [error, slow, error]) == [5, 15, 25, 45])
    }

    @Test("A pause begins when the response is there, however long that took")
    func slowResponse() throws {
        var polling = polling
        _ = try polling.begin(at: Self.start)
        #expect(try polling.failed(Self.refusal("authorization_pending"), at: Self.instant(65)) == Self.instant(70))
    }

    @Test("A code that was kept until it expired is not asked for")
    func expiredBefore() {
        for seconds in [595, 600, 10_000] {
            let error = #expect(throws: AtomError.self) { try polling.begin(at: Self.instant(seconds)) }
            #expect(error?.signInError == .deviceCodeExpired)
            #expect(error?.delivery == .notSent)
        }
        #expect(throws: Never.self) { try polling.begin(at: Self.instant(594)) }
    }

    @Test("It ends when there is no time for another request, with the failure if that is why")
    func expiry() throws {
        var polling = polling
        #expect(try polling.failed(Self.refusal("authorization_pending"), at: Self.instant(594)) == Self.instant(599))
        let expired = end(after: Self.refusal("authorization_pending"), at: 595)
        #expect(expired?.signInError == .deviceCodeExpired)
        let failed = end(after: Self.offline, at: 590)
        #expect(failed?.isOffline == true)
    }

    @Test("Without a network it is asked ever more seldom, and never without end")
    func noNetwork() {
        var polling = DevicePolling(interval: .seconds(5), expiry: MonotonicInstant(nanoseconds: .max))
        var (now, requests) = (Self.start, 0)
        while requests < 1_000, let next = try? polling.failed(Self.offline, at: now) {
            #expect(now.duration(to: next) >= .seconds(10))
            (now, requests) = (next, requests + 1)
        }
        #expect((20..<1_000).contains(requests))
    }

    @Test(
        "What the person or the server has decided ends it",
        arguments: [
            ("access_denied", SignInError.declined), ("expired_token", .deviceCodeExpired),
            ("invalid_grant", .refused(OAuthError(code: "invalid_grant"))),
            ("invalid_client", .refused(OAuthError(code: "invalid_client"))),
        ])
    func ends(_ code: String, _ expected: SignInError) {
        let error = end(after: Self.refusal(code))
        #expect(error?.signInError == expected)
        #expect(error?.delivery == .answered)
    }

    @Test(
        "Any other error ends it as it is",
        arguments: [
            AtomError.cancelled(.maybeSent), .unexpected, .response(AtomResponse(statusCode: 400)),
            .response(AtomResponse(statusCode: nil)), .signIn(.invalidTokenResponse("x")), .signIn(.timedOut),
        ])
    func others(_ given: AtomError) {
        let error = end(after: given)
        #expect(error?.description == given.description)
        #expect(error?.signInError == given.signInError)
    }
}
