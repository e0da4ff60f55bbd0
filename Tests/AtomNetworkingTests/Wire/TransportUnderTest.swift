@testable import AtomNetworking

/// The transport of the suites with real connections: the platform's default.
///
/// The tests of another transport include these suites with symbolic links, and
/// have their own version of this file.
enum TransportUnderTest {
    #if os(Linux)
        static let kind = TransportKind.curl
    #else
        static let kind = TransportKind.urlSession
    #endif

    /// Each of these has to meet the requirements.
    static let subjects = [
        ContractSubject(
            description: "the default",
            // URLSession keeps header fields in a dictionary, and adds some.
            exceptions: kind == .urlSession ? [.headerFieldLinesAreExact, .headerFieldsAreNotAdded] : []
        ) { ServiceConfiguration().makeDefaultTransport() }
    ]

    /// Creates a service's transport; with `nil` the service uses its default.
    static let make: (@Sendable () -> any Transport)? = nil
}
