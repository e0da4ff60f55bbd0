import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The errors of URLSession on Apple's systems, which can be made anywhere.
@Suite struct AppleFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let error: any Error
        let code: URLError.Code
        let words: String
        /// With a session that began to send the request.
        var delivery = AtomError.Delivery.maybeSent

        var testDescription: String { "\(type(of: error)) \((error as NSError).code)" }
    }

    static let cases = [
        Case(
            error: URLError(.appTransportSecurityRequiresSecureConnection),
            code: .appTransportSecurityRequiresSecureConnection, words: "NSAppTransportSecurity", delivery: .notSent),
        Case(error: URLError(.notConnectedToInternet), code: .notConnectedToInternet, words: "no network connection"),
        Case(error: URLError(.dataNotAllowed), code: .dataNotAllowed, words: "not allowed for this app"),
        Case(error: URLError(.internationalRoamingOff), code: .internationalRoamingOff, words: "roaming"),
        Case(error: URLError(.callIsActive), code: .callIsActive, words: "during a call"),
        Case(error: URLError(.cannotConnectToHost), code: .cannotConnectToHost, words: "can't be reached"),
        Case(error: URLError(.cannotFindHost), code: .cannotFindHost, words: "No server with this name"),
        Case(error: URLError(.dnsLookupFailed), code: .cannotFindHost, words: "No server with this name"),
        Case(error: URLError(.secureConnectionFailed), code: .secureConnectionFailed, words: "No secure connection"),
        Case(
            error: URLError(.serverCertificateUntrusted), code: .serverCertificateUntrusted,
            words: "No secure connection"),
        Case(
            error: URLError(.clientCertificateRequired), code: .clientCertificateRequired,
            words: "No secure connection"),
        Case(error: URLError(.networkConnectionLost), code: .networkConnectionLost, words: "lost"),
        Case(error: URLError(.timedOut), code: .timedOut, words: "did not respond in time"),
        Case(error: URLError(.unknown), code: .unknown, words: "error -1 of the domain NSURLErrorDomain"),
        Case(error: POSIXError(.ECONNABORTED), code: .networkConnectionLost, words: "lost"),
        Case(error: POSIXError(.EPIPE), code: .networkConnectionLost, words: "lost"),
        Case(error: POSIXError(.ENETDOWN), code: .notConnectedToInternet, words: "no network connection"),
        Case(error: POSIXError(.ECONNREFUSED), code: .cannotConnectToHost, words: "refused"),
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

    @Test("The session says whether something was sent, not the code", arguments: cases)
    func delivery(_ expected: Case) {
        #expect(failure(expected.error, .mayHaveSent).delivery == expected.delivery)
        #expect(failure(expected.error, .nothingSent).delivery == .notSent)
        #expect(failure(expected.error, .mayHaveSent, hasResponse: true).delivery == .answered)
    }

    @Test(
        "Nothing was sent if no try began to send",
        arguments: [
            ([nil], 0, .nothingSent), ([nil, nil], 0, .nothingSent), ([Date()], 0, .mayHaveSent),
            // The first connection was lost, and no second one could be made.
            ([Date(), nil], 0, .mayHaveSent), ([nil], 1, .mayHaveSent), ([], 0, .mayHaveSent),
        ] as [([Date?], Int64, RequestTrace)])
    func trace(starts: [Date?], bodyBytes: Int64, expected: RequestTrace) {
        #expect(RequestTrace(starts: starts, bodyBytes: bodyBytes) == expected)
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
