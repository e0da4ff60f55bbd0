/// Keeps a stream open: its exchange is closed when the handle is released.
final class StreamHandle: Sendable {
    let stream: StreamedResponse

    init(_ stream: StreamedResponse) { self.stream = stream }

    deinit { stream.drop() }
}

extension RequestableQueueManager {
    /// Starts a request whose response is read as a stream: a new one, or one that goes on after the last connection.
    func openStream(
        _ request: consuming PreparedRequest, fields: [HeaderItem] = [], after last: StreamedResponse? = nil
    ) -> StreamHandle {
        // What the session doesn't sign is nobody's.
        let session = request.requiresAuthorization ? session : nil
        let stream = StreamedResponse(session, after: last, by: time, fields: fields)
        stream.started(run(request, listener: .completion(stream.ended), destination: stream, of: last?.tenure))
        last?.goesOn(with: stream)
        return StreamHandle(stream)
    }
}
