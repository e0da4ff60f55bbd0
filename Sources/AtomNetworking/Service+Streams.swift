import Foundation

// Responses that are read while they arrive.
extension Service {
    /// Sends the request and returns the body as it arrives.
    ///
    /// <!-- given:
    /// enum Export: Requestable {
    ///     case bookings
    ///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    /// }
    /// let atom = Atom()
    /// let file = FileHandle.standardOutput
    /// -->
    /// ```swift
    /// import AtomNetworking
    /// import Foundation
    ///
    /// let stream = try await atom.enqueue(Export.bookings).bytes()
    /// for try await part in stream { try file.write(contentsOf: part) }
    /// ```
    ///
    /// It returns when the head of the response has arrived. A 401 is
    /// refreshed for and retried as always. An unacceptable status is
    /// ``AtomError/response(_:)`` with the body. From then on the request
    /// takes no place of other requests, `timeout.resource` has ended, and
    /// `timeout.request` limits the time in which nothing arrives, but not
    /// the time that the reader takes.
    ///
    /// The stream is read once. A reader that is slow holds the server back,
    /// so the memory stays small. Leaving the loop, cancelling the task or
    /// releasing the stream closes the connection.
    ///
    /// - Throws: ``AtomError``.
    public nonisolated(nonsending) func bytes() async throws(AtomError) -> ResponseStream<Data> {
        let handle = try beginStream()
        defer { manager.resultHandler?() }
        return ResponseStream(handle, response: try await head(of: handle))
    }

    /// Sends the request and returns the body line by line, as it arrives.
    ///
    /// Lines end with LF, CR LF or CR, and blank lines are kept. A byte order
    /// mark at the beginning is dropped. ``bytes()`` explains the rest.
    ///
    /// - Parameter maximumLineLength: In bytes. A longer line ends the stream
    ///   with ``TransferError/Reason/tooLarge``.
    /// - Throws: ``AtomError``. The stream fails with
    ///   ``TransferError/Reason/notUTF8`` if the body isn't UTF-8.
    public nonisolated(nonsending) func lines(
        maximumLineLength: Int = 1 << 24
    ) async throws(AtomError) -> ResponseStream<String> {
        let handle = try beginStream()
        defer { manager.resultHandler?() }
        return ResponseStream(handle, response: try await head(of: handle), limit: maximumLineLength)
    }

    /// Sends the request and decodes each line of the body as JSON.
    ///
    /// Blank lines are skipped. It uses the configuration's decoder.
    /// ``bytes()`` explains the rest.
    ///
    /// - Throws: ``AtomError``. The stream fails with
    ///   ``AtomError/decoder(_:)`` at a line that isn't such a value.
    public nonisolated(nonsending) func jsonLines<T: Decodable & Sendable>(
        of type: T.Type, maximumLineLength: Int = 1 << 24
    ) async throws(AtomError) -> ResponseStream<T> {
        let handle = try beginStream()
        defer { manager.resultHandler?() }
        return ResponseStream(
            handle, response: try await head(of: handle), decoder: manager.decoder, limit: maximumLineLength)
    }

    /// Sends the request and returns the server-sent events of the response,
    /// as they arrive.
    ///
    /// The request asks for `text/event-stream`, unless the endpoint sets
    /// `Accept`. Any method will do. ``bytes()`` explains the rest.
    ///
    /// - Parameters:
    ///   - reconnection: What happens when the connection ends; by default the
    ///     stream ends too.
    ///   - lastEventID: The ID of the last event of an earlier stream, to go on
    ///     after it.
    ///   - maximumEventSize: In bytes. A larger event ends the stream with
    ///     ``TransferError/Reason/tooLarge``.
    /// - Throws: ``AtomError``; ``TransferError/Reason/unexpectedMediaType`` if
    ///   the response is something else.
    public nonisolated(nonsending) func serverSentEvents(
        reconnection: Reconnection = .never, lastEventID: String = "", maximumEventSize: Int = 1 << 24
    ) async throws(AtomError) -> ResponseStream<ServerSentEvent> {
        let source = try eventSource(after: lastEventID, reconnection)
        defer { manager.resultHandler?() }
        do {
            let response = try await source.open()
            return ResponseStream(source, response: response, limit: maximumEventSize)
        } catch {
            throw announced(error)
        }
    }

    private func prepareStream() throws(AtomError) -> PreparedRequest {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        return try prepared()
    }

    private func eventSource(
        after lastEventID: String, _ reconnection: Reconnection
    ) throws(AtomError) -> EventSource {
        let request = try prepareStream()
        if let reason = HTTPGrammar.violation(inFieldValue: lastEventID) {
            let error = AtomError.requestable(.invalidHeader(.init(subject: "Last-Event-ID", reason: reason)))
            manager.refused(requestable, error)
            manager.resultHandler?()
            throw error
        }
        return EventSource(request, lastEventID: lastEventID, reconnection: reconnection, manager: manager)
    }

    private func beginStream() throws(AtomError) -> StreamHandle { manager.openStream(try prepareStream()) }

    private func head(
        of handle: StreamHandle, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AtomError) -> AtomResponse {
        do {
            return try await handle.stream.head()
        } catch {
            throw announced(error)
        }
    }
}
