import Foundation

// Responses that are read while they arrive.
extension Service {
    /// Sends the request and returns the body as it arrives; <doc:Streaming> has examples.
    ///
    /// It returns when the head of the response has arrived. A 401 is refreshed for and retried as always. An
    /// unacceptable status is ``AtomError/response(_:)`` with the body. From then on the request takes no place of
    /// other requests, `timeout.resource` has ended, and `timeout.request` limits the time in which nothing arrives,
    /// but not the time that the reader takes.
    ///
    /// The stream is read once. A reader that is slow holds the server back, so the memory stays small. Leaving the
    /// loop, cancelling the task or releasing the stream closes the connection.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// for try await piece in try await atom.enqueue(Departures(airport: "SEA")).bytes() {
    ///     print(piece.count)
    /// }
    /// ```
    ///
    /// - Throws: ``AtomError``.
    public nonisolated(nonsending) func bytes() async throws(AtomError) -> ResponseStream<Data> {
        let (handle, response) = try await open()
        return ResponseStream(handle, response)
    }

    /// Sends the request and returns the body line by line, as it arrives.
    ///
    /// Lines end with LF, CR LF or CR, and blank lines are kept. A byte order
    /// mark at the beginning is dropped. ``bytes()`` explains the rest.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// for try await line in try await atom.enqueue(Departures(airport: "SEA")).lines() {
    ///     print(line)
    /// }
    /// ```
    ///
    /// - Parameter maximumLineLength: In bytes. A longer line ends the stream with ``TransferError/Reason/tooLarge``.
    /// - Throws: ``AtomError``. The stream fails with ``TransferError/Reason/notUTF8`` if the body isn't UTF-8.
    public nonisolated(nonsending) func lines(
        maximumLineLength: Int = 1 << 24
    ) async throws(AtomError) -> ResponseStream<String> {
        let (handle, response) = try await open()
        return ResponseStream(handle, response, limit: maximumLineLength)
    }

    /// Sends the request and decodes each line of the body as JSON.
    ///
    /// Blank lines are skipped. It uses the configuration's decoder. ``bytes()`` explains the rest.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// for try await flight in try await atom.enqueue(Departures(airport: "SEA")).jsonLines(of: Flight.self) {
    ///     print(flight.number)
    /// }
    /// ```
    ///
    /// - Throws: ``AtomError``. The stream fails with ``AtomError/decoder(_:)`` at a line that isn't such a value.
    public nonisolated(nonsending) func jsonLines<T: Decodable & Sendable>(
        of type: T.Type, maximumLineLength: Int = 1 << 24
    ) async throws(AtomError) -> ResponseStream<T> {
        let (handle, response) = try await open()
        return ResponseStream(handle, response, decoder: manager.decoder, limit: maximumLineLength)
    }

    /// Sends the request and returns the server-sent events of the response, as they arrive.
    ///
    /// The request asks for `text/event-stream`, unless the endpoint sets `Accept`. Any method will do. ``bytes()``
    /// explains the rest.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let events = try await atom.enqueue(Departures(airport: "SEA")).serverSentEvents(reconnection: .automatic())
    /// for try await event in events {
    ///     print(event.data)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - reconnection: What happens when the connection ends; by default the stream ends too.
    ///   - lastEventID: The ID of the last event of an earlier stream, to go on after it.
    ///   - maximumEventSize: In bytes. A larger event ends the stream with ``TransferError/Reason/tooLarge``.
    /// - Throws: ``AtomError``; ``TransferError/Reason/unexpectedMediaType`` if the response is something else.
    public nonisolated(nonsending) func serverSentEvents(
        reconnection: Reconnection = .never, lastEventID: String = "", maximumEventSize: Int = 1 << 24
    ) async throws(AtomError) -> ResponseStream<ServerSentEvent> {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        defer { manager.resultHandler?() }
        if let chain = manager.plugins {
            do {
                let (source, response) = try await openPlugged(
                    chain, reconnection: reconnection, lastEventID: lastEventID)
                return ResponseStream(source, response, limit: maximumEventSize)
            } catch {
                throw announced(error)
            }
        }
        let request = try prepareEvents(requestable, lastEventID: lastEventID)
        let source = EventSource(request, lastEventID: lastEventID, reconnection: reconnection, manager: manager)
        do {
            let response = try await source.open()
            caching?.passed(request, .success(response))
            return ResponseStream(source, response, limit: maximumEventSize)
        } catch {
            caching?.passed(request, .failure(error))
            throw error
        }
    }

    func prepareEvents(_ requestable: any Requestable, lastEventID: String) throws(AtomError) -> PreparedRequest {
        let request = try manager.prepare(requestable)
        try check(request, of: requestable) { () throws(AtomError) in
            try HTTPGrammar.checkField("Last-Event-ID", lastEventID)
        }
        return request
    }

    /// Sends the request, and waits for the head.
    private nonisolated(nonsending) func open() async throws(AtomError) -> (StreamHandle, AtomResponse) {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        defer { manager.resultHandler?() }
        if let chain = manager.plugins {
            do {
                return try await openPlugged(chain)
            } catch {
                throw announced(error)
            }
        }
        let request = try manager.prepare(requestable)
        let handle = manager.openStream(request)
        do {
            let response = try await handle.stream.head()
            caching?.passed(request, .success(response))
            return (handle, response)
        } catch {
            caching?.passed(request, .failure(error))
            throw announced(error)
        }
    }
}
