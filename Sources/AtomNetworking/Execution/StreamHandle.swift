import Foundation

/// Keeps a stream open: its exchange is closed when the handle is released.
final class StreamHandle: Sendable {
    let stream: StreamedResponse
    private let isBegun = Guarded(false)

    /// Begins to read.
    ///
    /// - Returns: Whether nobody has begun before.
    func begin() -> Bool {
        isBegun.isSetNow()
    }

    init(_ stream: StreamedResponse) { self.stream = stream }

    deinit { stream.drop() }
}

extension RequestableQueueManager {
    /// Starts a request whose response is read as a stream, in the caller's
    /// isolation.
    ///
    /// - Parameter fields: The SDK's own header fields of the request.
    func openStream(_ request: consuming PreparedRequest, fields: [HeaderFields.Field] = []) -> StreamHandle {
        let stream = StreamedResponse(fields: fields)
        stream.started(run(request, listener: .streamed(stream), destination: stream))
        return StreamHandle(stream)
    }
}
