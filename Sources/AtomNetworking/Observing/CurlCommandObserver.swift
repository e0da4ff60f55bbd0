/// Writes a `curl` command for each sending of a service's requests.
///
/// ```swift
/// import AtomNetworking
///
/// var configuration = ServiceConfiguration()
/// configuration.observers = [CurlCommandObserver { print($0) }]
/// ```
///
/// A request that is redirected or sent again has several commands, and so have
/// the SDK's own requests for tokens.
public struct CurlCommandObserver: RequestObserver {
    private let disclosure: RequestDisclosure
    private let write: @Sendable (String) -> Void

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - disclosure: What the commands show. They hide credentials unless it
    ///     is ``RequestDisclosure/everything``.
    ///   - write: Gets each command, on any thread, when the transport has the request.
    ///     It must not wait.
    public init(
        showing disclosure: RequestDisclosure = .allButCredentials, write: @escaping @Sendable (String) -> Void
    ) {
        self.disclosure = disclosure
        self.write = write
    }

    /// Writes the command if the event is a sending.
    public func observe(_ event: RequestEvent) {
        guard case .sent(let request) = event.kind else { return }
        write(request.curlCommand(showing: disclosure))
    }
}
