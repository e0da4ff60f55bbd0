import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The errors of URLSession on Apple platforms, which can be made anywhere.
@Suite(.limited) struct AppleFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let error: any Error
        let code: URLError.Code
        let words: String
        /// With a session that began to send the request.
        var delivery = AtomError.Delivery.maybeSent
        /// Whether it can come before a byte is sent.
        var precedesRequest = false

        var testDescription: String { "\(type(of: error)) \((error as NSError).code)" }
    }

    static let cases = [
        Case(
            error: URLError(.appTransportSecurityRequiresSecureConnection),
            code: .appTransportSecurityRequiresSecureConnection, words: "NSAppTransportSecurity", delivery: .notSent,
            precedesRequest: true),
        Case(
            error: URLError(.notConnectedToInternet), code: .notConnectedToInternet, words: "no network connection",
            precedesRequest: true),
        Case(
            error: URLError(.dataNotAllowed), code: .dataNotAllowed, words: "not allowed for this app",
            precedesRequest: true),
        Case(
            error: URLError(.internationalRoamingOff), code: .internationalRoamingOff, words: "roaming",
            precedesRequest: true),
        Case(error: URLError(.callIsActive), code: .callIsActive, words: "during a call", precedesRequest: true),
        Case(
            error: URLError(.cannotConnectToHost), code: .cannotConnectToHost, words: "can't be reached",
            precedesRequest: true),
        Case(
            error: URLError(.cannotFindHost), code: .cannotFindHost, words: "No server with this name",
            precedesRequest: true),
        Case(
            error: URLError(.dnsLookupFailed), code: .cannotFindHost, words: "No server with this name",
            precedesRequest: true),
        Case(
            error: URLError(.secureConnectionFailed), code: .secureConnectionFailed, words: "No secure connection",
            precedesRequest: true),
        Case(
            error: URLError(.serverCertificateUntrusted), code: .serverCertificateUntrusted,
            words: "No secure connection", precedesRequest: true),
        Case(
            error: URLError(.clientCertificateRequired), code: .clientCertificateRequired,
            words: "No secure connection", precedesRequest: true),
        Case(error: URLError(.networkConnectionLost), code: .networkConnectionLost, words: "lost"),
        Case(error: URLError(.timedOut), code: .timedOut, words: "did not respond in time"),
        Case(error: URLError(.cancelled), code: .cancelled, words: "cancelled"),
        // On Linux it means that the server has closed the connection.
        Case(error: URLError(.badServerResponse), code: .cannotParseResponse, words: "response can't be read"),
        Case(error: URLError(.unknown), code: .unknown, words: "error -1 of the domain NSURLErrorDomain"),
        Case(error: POSIXError(.ECONNABORTED), code: .networkConnectionLost, words: "lost"),
        Case(error: POSIXError(.EPIPE), code: .networkConnectionLost, words: "lost"),
        Case(
            error: POSIXError(.ENETDOWN), code: .notConnectedToInternet, words: "no network connection",
            precedesRequest: true),
        Case(error: POSIXError(.ECONNREFUSED), code: .cannotConnectToHost, words: "refused", precedesRequest: true),
        Case(error: POSIXError(.ETIMEDOUT), code: .timedOut, words: "in time"),
        Case(error: POSIXError(.EMSGSIZE), code: .unknown, words: "of the domain NSPOSIXErrorDomain"),
        Case(
            error: NSError(domain: "kCFErrorDomainCFNetwork", code: 303), code: .unknown,
            words: "error 303 of the domain kCFErrorDomainCFNetwork"),
    ]

    private func failure(_ error: any Error, _ trace: RequestTrace, hasResponse: Bool = false) -> TransportFailure {
        WireFailure(error: error, hasResponse: hasResponse, isSecure: true, trace: trace).transportFailure
    }

    @Test("Each has its code and words", arguments: cases)
    func table(_ expected: Case) {
        let sent = failure(expected.error, .mayHaveSent)
        let error = sent.urlError(delivery: sent.delivery)
        #expect(error.code == expected.code)
        #expect(error.localizedDescription.contains(expected.words), "\(error.localizedDescription)")
        #expect(error.userInfo[NSUnderlyingErrorKey] != nil)
    }

    @Test("The session says whether something was sent, and where it can't, the code", arguments: cases)
    func delivery(_ expected: Case) {
        #expect(failure(expected.error, .mayHaveSent).delivery == expected.delivery)
        #expect(failure(expected.error, .nothingSent).delivery == .notSent)
        #expect(
            failure(expected.error, .nothingNoted).delivery == (expected.precedesRequest ? .notSent : .maybeSent))
        #expect(failure(expected.error, .mayHaveSent, hasResponse: true).delivery == .answered)
    }

    /// How far a try got.
    enum Step: Int {
        case nothingNoted, lookingUp, connecting, connected, sending

        var dates: RequestTrace.Try {
            func date(_ step: Step) -> Date? { rawValue < step.rawValue ? nil : Date() }
            return (
                date(.sending),
                [(date(.lookingUp), date(.connecting)), (date(.connecting), date(.connected))]
            )
        }
    }

    @Test(
        "Nothing was sent if each try ended before it had a connection",
        arguments: [
            ([.lookingUp], 0, .nothingSent), ([.connecting], 0, .nothingSent),
            ([.connecting, .lookingUp], 0, .nothingSent),
            // A kept connection, or a protocol of the app's.
            ([.nothingNoted], 0, .nothingNoted), ([.connected], 0, .nothingNoted),
            ([.nothingNoted, .connecting], 0, .nothingNoted),
            ([.sending], 0, .mayHaveSent), ([.nothingNoted], 1, .mayHaveSent), ([.connecting], 1, .mayHaveSent),
            // The first connection was lost, and no second one could be made.
            ([.sending, .connecting], 0, .mayHaveSent), ([], 0, .mayHaveSent),
        ] as [([Step], Int64, RequestTrace)])
    func trace(tries: [Step], bodyBytes: Int64, expected: RequestTrace) {
        #expect(RequestTrace(tries.map(\.dates), bodyBytes: bodyBytes) == expected)
    }

    @Test func whatAProtocolOfTheAppsLosesIsNotSentAgain() {
        // Of its tasks the metrics have one transaction without dates.
        let trace = RequestTrace([Step.nothingNoted.dates], bodyBytes: 0)
        let lost = failure(URLError(.networkConnectionLost), trace)
        #expect(lost.delivery == .maybeSent)
        let setback = RetryPolicy.Setback(.connection(.networkConnectionLost), delivery: lost.delivery)
        #expect(RetryPolicy.none.delay(after: setback, attempt: 1, chance: 0) == nil)
    }

    @Test func noURLIsLeftInAnyUnderlyingError() throws {
        let address = "https://a.example/?token=hunter2"
        let url = try #require(URL(string: address))
        let notes: [String: Any] = [
            "NSErrorFailingURLKey": url, "urls": [url], "nested": ["at": address, "deeper": [address]],
        ]
        let posix = POSIXError(.ECONNABORTED, userInfo: notes)
        let stream = NSError(
            domain: "kCFErrorDomainCFNetwork", code: 303,
            userInfo: notes.merging([NSUnderlyingErrorKey: posix, "NSMultipleUnderlyingErrorsKey": [posix]]) { $1 })
        let outer = URLError(.secureConnectionFailed, userInfo: notes.merging([NSUnderlyingErrorKey: stream]) { $1 })
        for error: any Error in [outer, stream, posix] {
            let found = failure(error, .mayHaveSent)
            expectNone(
                of: everyRendering(of: found) + everyRendering(of: found.urlError(delivery: .maybeSent)),
                toContain: "hunter2")
        }
    }
}
