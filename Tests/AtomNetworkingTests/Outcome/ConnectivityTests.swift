import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Failures of the connection", .limited)
struct ConnectivityTests {
    private static let problems: [(URLError.Code, String)] = [
        (.notConnectedToInternet, "There is no network connection."), (.dataNotAllowed, "mobile data"),
        (.internationalRoamingOff, "roaming"), (.callIsActive, "call"),
        (.cannotFindHost, "No server with this name was found."), (.dnsLookupFailed, "No server with this name"),
        (.cannotConnectToHost, "can't be reached"), (.networkConnectionLost, "The connection was lost."),
    ]

    @Test("They are known by their cause, also behind a refresh, and have words of their own")
    func problems() {
        for (code, words) in Self.problems {
            let error = AtomError.session(URLError(code))
            #expect(error.isConnectivityFailure)
            #expect(error.description.contains(words), "\(error.description)")
            #expect(
                AtomError.authentication(.refreshFailed(cause: error, retryAt: nil, delivery: .notSent))
                    .isConnectivityFailure)
            #expect(
                AtomError.transfer(
                    TransferError(.incompleteResponse, "x", delivery: .answered, underlying: URLError(code))
                ).isConnectivityFailure)
        }
    }

    @Test("Other failures are no failures of the connection")
    func others() {
        for error in [
            AtomError.session(URLError(.timedOut)), .session(URLError(.secureConnectionFailed)),
            .session(CancellationError()), .cancelled(.notSent), .unexpected, .response(.success),
            .requestable(.invalidURL), .authentication(.missingCredential(delivery: .notSent)),
            .authentication(.refreshFailed(cause: AtomError.unexpected, retryAt: nil, delivery: .notSent)),
        ] {
            #expect(!error.isConnectivityFailure, "\(error)")
        }
    }

    @Test("Both transports say why there is no connection")
    func wire() {
        for code in [URLError.Code.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff] {
            let failure = WireFailure(error: URLError(code), hasResponse: false, isSecure: true).transportFailure
            let error = AtomError.session(failure.error)
            #expect(error.isConnectivityFailure && error.delivery == .notSent)
            #expect(error.description == (URLError(code).connectivityProblem ?? "") + ".")
        }
        #if os(Linux)
            for (number, code) in [
                (ENETUNREACH, URLError.Code.notConnectedToInternet), (ECONNREFUSED, .cannotConnectToHost),
            ] {
                let error = CurlError(code: 7, message: "", systemError: Int(number))
                #expect(error.problem(abort: nil, head: ResponseHead(), proxyStatus: 0).code == code)
            }
        #endif
    }
}
