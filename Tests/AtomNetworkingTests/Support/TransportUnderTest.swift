import AtomNetworkingTesting
import Testing

@testable import AtomNetworking

/// A transport over which the suites in `Wire` run, once over each of
/// `TransportUnderTest.all`.
///
/// That list isn't in this folder: another package that links the folders
/// `Support` and `Wire` lists its own transports.
struct TransportUnderTest: Sendable, CustomTestStringConvertible {
    /// The transports that the suites know; they differ in a few details.
    enum Kind: String, Codable {
        case curl = "libcurl"
        case urlSession = "URLSession"
        case asyncHTTPClient = "AsyncHTTPClient"
    }

    let kind: Kind
    /// What its HTTP stack doesn't let it do of the contract.
    var exceptions: Set<TransportContract.Check> = []
    /// Creates one as a service uses it.
    let make: @Sendable () -> any Transport

    var testDescription: String { kind.rawValue }
}
