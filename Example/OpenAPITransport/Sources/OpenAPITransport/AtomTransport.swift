import AtomNetworking
import Foundation
import HTTPTypes
import OpenAPIRuntime

/// Sends the operations of a generated client through an ``Atom``.
///
/// ```swift
/// let transport = AtomTransport(atom) { operationID, options in
///     if operationID == Operations.ListFlights.id { options.requiresAuthorization = false }
/// }
/// let client = Client(serverURL: try Servers.Server1.url(), transport: transport)
/// ```
///
/// Every response is returned to the client, whatever its status. Everything else that can happen is an `AtomError`,
/// which the client throws as the `underlyingError` of a `ClientError`.
public struct AtomTransport: ClientTransport {
    /// Changes the options of an operation.
    public typealias Adjustment = @Sendable (_ operationID: String, _ options: inout OperationOptions) -> Void

    private let atom: Atom
    private let adjust: Adjustment

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - atom: Has the session, the retry policy, the deadlines and all the rest.
    ///   - adjust: Changes the options of an operation. It is called for each request.
    ///     A generated client has the identifiers as `Operations.….id`.
    public init(_ atom: Atom, adjusting adjust: @escaping Adjustment = { _, _ in }) {
        self.atom = atom
        self.adjust = adjust
    }

    /// Sends a request, and returns when the head of the response has arrived.
    ///
    /// The body is read while it arrives, unless the options say otherwise.
    ///
    /// - Throws: `AtomError`.
    public func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var options = OperationOptions()
        adjust(operationID, &options)
        let body: RequestBody? = if let body { await .sending(body) } else { nil }
        let service = atom.enqueue(
            HTTPRequestEndpoint(request, body: body, server: baseURL.absoluteString, options: options))
        do throws(AtomError) {
            if options.collectsResponse { return try Self.message(try await service.resume(), to: request) }
            let stream = try await service.bytes()
            return try Self.message(stream.response, in: stream, to: request)
        } catch .response(let response) {
            // Not one of 200…299, after all retries. The SDK has collected it.
            return try Self.message(response, to: request)
        }
    }

    /// The head of a response, and its body if it has one (RFC 9110 §6.4.1, §15.3.6).
    private static func message(
        _ response: AtomResponse, in stream: ResponseStream<Data>? = nil, to request: HTTPRequest
    ) throws(AtomError) -> (HTTPResponse, HTTPBody?) {
        guard let head = HTTPResponse(response) else { throw .unexpected }
        guard request.method != .head, ![204, 205, 304].contains(head.status.code) else { return (head, nil) }
        guard let stream else { return (head, HTTPBody(response.data)) }
        return (head, HTTPBody(stream, length: length(of: head), iterationBehavior: .single))
    }

    /// The length of the body as it is read: not known if it is compressed on the wire.
    private static func length(of head: HTTPResponse) -> HTTPBody.Length {
        guard !head.headerFields.contains(.contentEncoding),
            let length = head.headerFields[.contentLength].flatMap({ Int64($0) }), length >= 0
        else { return .unknown }
        return .known(length)
    }
}
