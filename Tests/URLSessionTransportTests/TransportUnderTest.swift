import AtomNetworkingTesting

@testable import AtomNetworking

/// Runs the suites in `Shared` with URLSession, also where it isn't the default.
enum TransportUnderTest {
    static let kind = TransportKind.urlSession
    #if os(Linux)
        // Foundation there ends the process when a head breaks off, keeps header
        // fields in a dictionary, and adds `Accept-Language`. Streams are written to
        // a file before they are sent.
        static let subjects = [
            ContractSubject(
                description: "URLSession",
                exceptions: [
                    .brokenHeadsFail, .headerFieldLinesAreExact, .headerFieldsAreNotAdded, .streamsAreReadOnDemand,
                ]
            ) { URLSessionTransport() }
        ]
    #else
        // The system keeps header fields in a dictionary, and adds some. Streams are
        // written to a file before they are sent.
        static let subjects = [
            ContractSubject(
                description: "URLSession",
                exceptions: [.headerFieldLinesAreExact, .headerFieldsAreNotAdded, .streamsAreReadOnDemand]
            ) { URLSessionTransport() }
        ]
    #endif
    static let make: (@Sendable () -> any Transport)? = { URLSessionTransport() }
}
