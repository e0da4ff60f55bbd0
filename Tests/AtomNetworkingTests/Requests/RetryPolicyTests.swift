import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("When a request is sent again, as a pure function", .limited)
struct RetryPolicyTests {
    typealias Setback = RetryPolicy.Setback

    private static let refused = Setback(.connection(.cannotConnectToHost), delivery: .notSent)
    private static let lost = Setback(.connection(.networkConnectionLost), delivery: .maybeSent)

    private static func status(_ code: Int, serverDelay: Duration? = nil) -> Setback {
        Setback(.status(code), delivery: .answered, serverDelay: serverDelay)
    }

    @Test("A policy draws the same delays as botocore's retries of 2026")
    func delays() throws {
        let draws = try BotocoreDraws()
        let policy = RetryPolicy(maximumAttempts: 20)
        var chances = SeededChances(seed: 1)
        #expect(draws.delays.count == 10_000)
        for (draw, expected) in draws.delays.enumerated() {
            let isThrottled = draw / 12 % 2 == 1
            let setback = isThrottled ? Self.status(429) : Self.lost
            let delay = try #require(
                policy.delay(after: setback, attempt: 1 + draw % 12, chance: chances.next()))
            // Both sides round.
            #expect(abs(delay.seconds * 1_000_000 - Double(expected)) < 1, "draw \(draw)")
        }
    }

    @Test("The standard policy has the arguments of botocore's retries")
    func arguments() {
        let standard = RetryPolicy.standard
        #expect(standard.maximumAttempts == 3)
        #expect(standard.baseDelay == .milliseconds(50) && standard.throttledBaseDelay == .seconds(1))
        #expect(standard.maximumDelay == .seconds(20))
        #expect(standard.quota == 500 && standard.cost == 14 && standard.throttledCost == 5)
        #expect(standard.statusCodes == [408, 425, 429, 500, 502, 503, 504])
        #expect(standard.delay(after: Self.lost, attempt: 2, chance: 0.5) == .milliseconds(50))
        #expect(standard.delay(after: Self.lost, attempt: 3, chance: 0.5) == nil)
        #expect(standard.cost(after: Self.lost) == 14 && standard.cost(after: Self.status(429)) == 5)
        #expect(standard.cost(after: Self.status(503)) == 14)
        #expect(standard.cost(after: Self.status(503, serverDelay: .seconds(1))) == 5)
    }

    @Test("A failed refresh is temporary unless the app's developers have to mend it")
    func temporaryFailures() {
        func refreshFailed(_ cause: any Error) -> AtomError {
            .authentication(.refreshFailed(cause: cause, retryAt: nil, delivery: .maybeSent))
        }
        func answered(_ code: Int) -> AtomError { refreshFailed(AtomError.response(AtomResponse(statusCode: code))) }
        func notProvided(_ cause: any Error) -> AtomError {
            .authentication(.credentialNotProvided(cause: cause, retryAt: nil, delivery: .notSent))
        }
        let temporary: [AtomError] = [
            answered(399), answered(402), answered(404), answered(503), refreshFailed(OAuthError(code: "server_error")),
            refreshFailed(CocoaError(.fileReadUnknown)), refreshFailed(AtomError.session(URLError(.timedOut))),
            notProvided(URLError(.notConnectedToInternet)), .authentication(.waitedTooLong(delivery: .notSent)),
        ]
        let lasting: [AtomError] = [
            answered(400), answered(401), refreshFailed(OAuthError(code: "invalid_client")),
            refreshFailed(AtomError.requestable(.invalidURL)), notProvided(CancellationError()),
            .authentication(.missingCredential(delivery: .notSent)), .cancelled(.notSent), .unexpected,
        ]
        for error in temporary { #expect(RetryPolicy.standard.isTemporary(error), "\(error)") }
        for error in lasting { #expect(!RetryPolicy.standard.isTemporary(error), "\(error)") }
    }

    @Test("None sends only what can't have reached the server, once and at once")
    func none() {
        let none = RetryPolicy.none
        #expect(none.delay(after: Self.refused, attempt: 1, chance: 0.9) == .zero)
        #expect(none.delay(after: Self.refused, attempt: 2, chance: 0.9) == nil)
        for setback in [
            Self.lost, Self.status(503), Self.status(429, serverDelay: .zero),
            Setback(.connection(.serverCertificateUntrusted), delivery: .notSent),
        ] {
            #expect(none.delay(after: setback, attempt: 1, chance: 0.9) == nil)
        }
    }

    @Test("Only what may be over soon is a reason", arguments: 100...599)
    func statuses(code: Int) {
        let delay = RetryPolicy.standard.delay(after: Self.status(code), attempt: 1, chance: 0.5)
        #expect((delay != nil) == [408, 425, 429, 500, 502, 503, 504].contains(code))
    }

    @Test("A 401 and redirects are no reason, even if they are named")
    func neverStatuses() {
        let policy = RetryPolicy(statusCodes: [302, 401, 404])
        #expect(policy.delay(after: Self.status(404), attempt: 1, chance: 0.5) != nil)
        for code in [302, 401, 503] {
            #expect(policy.delay(after: Self.status(code), attempt: 1, chance: 0.5) == nil)
        }
    }

    @Test(
        "Connections that can't be made another time are no reason",
        arguments: [
            URLError.Code.serverCertificateUntrusted, .serverCertificateHasBadDate, .clientCertificateRequired,
            .cannotParseResponse, .badServerResponse, .dataLengthExceedsMaximum, .cancelled, .dataNotAllowed,
            .appTransportSecurityRequiresSecureConnection, .unsupportedURL, .cannotDecodeRawData,
        ])
    func lasting(code: URLError.Code) {
        let setback = Setback(.connection(code), delivery: .maybeSent)
        #expect(RetryPolicy.standard.delay(after: setback, attempt: 1, chance: 0.5) == nil)
    }

    @Test(
        "Connections that fail for now are a reason",
        arguments: [
            URLError.Code.timedOut, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .networkConnectionLost,
            .notConnectedToInternet, .secureConnectionFailed, .unknown,
        ])
    func temporary(code: URLError.Code) {
        let setback = Setback(.connection(code), delivery: .maybeSent)
        #expect(RetryPolicy.standard.delay(after: setback, attempt: 1, chance: 0.5) == .milliseconds(25))
    }

    @Test("Retry-After makes a pause longer, never shorter; one in the past means back-off")
    func serverDelay() {
        let policy = RetryPolicy.standard
        func delay(_ serverDelay: Duration) -> Duration? {
            policy.delay(after: Self.status(503, serverDelay: serverDelay), attempt: 1, chance: 0.5)
        }
        #expect(delay(.seconds(7)) == .seconds(7))
        #expect(delay(.zero) == .milliseconds(500))
        #expect(delay(.milliseconds(100)) == .milliseconds(500))
        #expect(delay(.seconds(3_600)) == .seconds(3_600))
    }

    @Test("Arguments that make no sense are brought within bounds")
    func bounds() {
        let policy = RetryPolicy(
            maximumAttempts: -1, baseDelay: .seconds(-1), throttledBaseDelay: .seconds(Int64.max),
            maximumDelay: .seconds(-5), quota: -1, cost: -1, throttledCost: -1)
        #expect(policy.maximumAttempts == 1 && policy.quota == 0 && policy.cost == 0 && policy.throttledCost == 0)
        #expect(policy.baseDelay == .zero && policy.maximumDelay == .zero)
        let patient = RetryPolicy(maximumAttempts: .max, baseDelay: .seconds(1), maximumDelay: .seconds(Int64.max))
        let delay = patient.delay(after: Self.lost, attempt: .max - 1, chance: 0.999)
        #expect(delay.map { $0 > .zero && $0 <= .century } == true)
    }

    @Test("Policies with equal arguments are equal")
    func equality() {
        #expect(RetryPolicy.standard == RetryPolicy() && RetryPolicy.none == RetryPolicy(maximumAttempts: 1))
        #expect(RetryPolicy.standard != .none)
        #expect(Set([RetryPolicy.standard, RetryPolicy(), .none]).count == 2)
    }
}

/// Random numbers in 0..<1 that are the same in every run.
struct SeededChances {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> Double { Double(generator.next() >> 11) * 0x1p-53 }
}

/// What botocore has drawn; `Tests/Retries/draw` writes it.
struct BotocoreDraws {
    /// In microseconds.
    let delays: [Int]
    /// `y` and `n` after a failure, whether its retry can be paid; `s` for a
    /// success.
    let decisions: String
    /// How many of 10,000 requests that fail are sent again.
    let retriesAtDeadHost: Int

    init() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: tests.appendingPathComponent("Retries/draws.txt"), encoding: .utf8)
        let lines = text.split(separator: "\n")
        let quota = try #require(lines.firstIndex { $0.hasPrefix("quota") })
        delays = lines[1..<quota].flatMap { $0.split(separator: " ") }.compactMap { Int($0) }
        decisions = lines[(quota + 1)...].dropLast().joined()
        retriesAtDeadHost = try #require(lines.last?.split(separator: " ").last.flatMap { Int($0) })
    }
}
