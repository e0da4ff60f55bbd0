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
        let place = last?.holder.map { SessionPlace(generation: $0.generation, takeoverCount: $0.takeoverCount) }
        stream.started(run(request, listener: .completion(stream.ended), destination: stream, of: place))
        last?.goesOn(with: stream)
        return StreamHandle(stream)
    }
}
