/// Stands around the requests of a service: answers, refuses or changes them, sends them again, or waits before them.
///
/// It is the place for asynchronous work, such as an attestation that a request carries. For what needs no waiting a
/// ``RequestAdapter`` or a ``RequestSigner`` costs less. <doc:AddingToRequests#Wait-before-a-request-is-sent> has an
/// example.
///
/// A plugin is outside of everything else that the service does for a request: checks, the cache, shared exchanges, the
/// session, retries. It gets what the app resumes, also downloads and streams, and nothing that the SDK sends by itself:
/// no request for a token, none of a ``Reconnection``, and no ``Atom/authorization(for:)``. A request that it makes
/// itself with the same ``Atom`` goes through the plugins again.
public protocol AtomPlugin: Sendable {
    /// Sends a request, or does something else.
    ///
    /// The SDK calls it once for each `resume`, and the plugin before this one as often as it likes, in a task of the
    /// request that has the caller's task-local values and priority. The plugins of one ``Atom`` run one at a time until
    /// they suspend, with the observers of what they send, so these must not block their thread. Requests that no plugin
    /// holds back are sent in the order in which they are resumed, if the plugins stay where they are called: write
    /// `nonisolated(nonsending)`, as here. Where a module doesn't enable `NonisolatedNonsendingByDefault`, Swift runs a
    /// function that is only `async` elsewhere, and its requests may overtake each other.
    ///
    /// When the caller cancels, or the endpoint's `timeout.resource` is over, which counts from `resume`, the caller is
    /// told at once, and the task is cancelled. What the plugin still returns or throws is dropped then.
    ///
    /// - Parameters:
    ///   - requestable: What the app has resumed, or the plugin before this one passes on.
    ///   - next: Sends a request on: to the next plugin, and from the last one to the server.
    /// - Returns: The response that the caller gets. For a download or a stream it has no body, and a plugin that has
    ///   none of `next` fails with ``TransferError/Reason/answeredByPlugin``.
    /// - Throws: What the caller gets as it is. A plugin that sends a request again must not throw an error with
    ///   ``AtomError/Delivery/notSent`` if an earlier one may have been received.
    nonisolated(nonsending) func send(
        _ requestable: any Requestable, next: NextHandler
    ) async throws(AtomError) -> AtomResponse
}

/// What follows an ``AtomPlugin``: the next one, and after the last one the request itself.
public struct NextHandler: Sendable {
    /// As in a plugin itself, it runs where it is called.
    typealias Handler = nonisolated(nonsending) @Sendable (any Requestable) async throws(AtomError) -> AtomResponse

    private let handler: Handler

    /// Creates one that does something else, for the test of a plugin.
    ///
    /// - Parameter handler: Takes the place of what follows.
    public init(
        _ handler:
            nonisolated(nonsending) @escaping @Sendable (any Requestable) async throws(AtomError) -> AtomResponse
    ) { self.handler = handler }

    /// Sends a request; called as often as the plugin likes, `try await next(requestable)`.
    ///
    /// The endpoint's members are read now, on any thread. Its timeout counts, but the request ends with that of the
    /// endpoint that the app has resumed. The request has been sent, or waits, before this suspends.
    ///
    /// - Returns: The response; for a download, when its file is complete, and for a stream, when its head is there.
    /// - Throws: What the request, or the next plugin, failed with.
    public nonisolated(nonsending) func callAsFunction(
        _ requestable: any Requestable
    ) async throws(AtomError) -> AtomResponse { try await handler(requestable) }
}
