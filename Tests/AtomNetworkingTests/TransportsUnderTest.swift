import Foundation

@testable import AtomNetworking

/// The transports of this package.
extension TransportUnderTest {
    #if os(Linux)
        /// Foundation's own libcurl is the system's: with another one it is left out.
        static let all =
            ProcessInfo.processInfo.environment["ATOM_TRANSPORT"] == "libcurl"
            ? [platformDefault] : [platformDefault, urlSession]

        static let platformDefault = TransportUnderTest(kind: .curl) { ServiceConfiguration().makeDefaultTransport() }

        // Foundation ends the process when a head breaks off, takes one of two
        // lengths, keeps header fields in a dictionary, and sends a GET again if a
        // connection that it kept has ended. Streams are written to a file before they
        // are sent.
        static let urlSession = TransportUnderTest(
            kind: .urlSession,
            exceptions: [
                .brokenHeadsFail, .differingLengthsFail, .headerFieldLinesAreExact, .requestsAreSentOnce,
                .streamsAreReadOnDemand,
            ]
        ) { URLSessionTransport() }
    #else
        static let all = [platformDefault]

        // The system keeps header fields in a dictionary, and sends an idempotent
        // request again if a connection that it kept has ended. It isn't known to
        // refuse two lengths. Streams are written to a file before they are sent.
        static let platformDefault = TransportUnderTest(
            kind: .urlSession,
            exceptions: [
                .differingLengthsFail, .headerFieldLinesAreExact, .requestsAreSentOnce, .streamsAreReadOnDemand,
            ]
        ) { ServiceConfiguration().makeDefaultTransport() }
    #endif
}
