import Foundation

/// The body of a response, part by part.
///
/// ``Service/bytes()`` returns it.
public struct ByteStream: AsyncSequence, Sendable {
    /// A part of the body.
    public typealias Element = Data
    /// Every failure of the SDK.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public typealias Failure = AtomError

    /// The response without its body.
    public let response: AtomResponse

    private let handle: StreamHandle

    init(_ handle: StreamHandle, response: AtomResponse) {
        self.handle = handle
        self.response = response
    }

    /// Begins to read.
    ///
    /// A stream is read once; a second reading fails with
    /// ``AtomError/unexpected``.
    public func makeAsyncIterator() -> Iterator { Iterator(reading: Reading(handle)) }

    /// Reads a stream of bytes.
    public struct Iterator: AsyncIteratorProtocol {
        /// Every failure of the SDK.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public typealias Failure = AtomError

        fileprivate let reading: Reading

        /// Waits for the next part, which isn't empty.
        ///
        /// - Returns: `nil` at the end of the body.
        public mutating func next() async throws(AtomError) -> Data? { try await next(isolation: nil) }

        /// Waits for the next part, on the caller's actor.
        ///
        /// A loop calls it.
        ///
        /// - Returns: `nil` at the end of the body.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> Data? {
            try await reading.next()
        }
    }
}

/// Closes the exchange when the iterator is released.
private final class Reading: Sendable {
    /// `nil` for a second reading.
    private let handle: StreamHandle?

    init(_ handle: StreamHandle) { self.handle = handle.begin() ? handle : nil }

    deinit { handle?.stream.drop() }

    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AtomError) -> Data? {
        guard let handle else { throw .unexpected }
        return try await handle.stream.next()
    }

    func check() throws(AtomError) { try handle?.stream.check() }

    func naming(_ error: AtomError) -> AtomError { handle?.stream.naming(error) ?? error }
}

/// The body of a response, line by line.
///
/// ``Service/lines(maximumLineLength:)`` returns it.
public struct LineStream: AsyncSequence, Sendable {
    /// A line without its end.
    public typealias Element = String
    /// Every failure of the SDK.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public typealias Failure = AtomError

    /// The response without its body.
    public let response: AtomResponse

    private let handle: StreamHandle
    private let limit: Int

    init(_ handle: StreamHandle, response: AtomResponse, limit: Int) {
        self.handle = handle
        self.response = response
        self.limit = limit
    }

    /// Begins to read.
    ///
    /// A stream is read once; a second reading fails with
    /// ``AtomError/unexpected``.
    public func makeAsyncIterator() -> Iterator {
        Iterator(lines: Lines(reading: Reading(handle), splitter: LineSplitter(limit: limit)))
    }

    /// Reads a stream of lines.
    public struct Iterator: AsyncIteratorProtocol {
        /// Every failure of the SDK.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public typealias Failure = AtomError

        fileprivate var lines: Lines

        /// Waits for the next line, without its end.
        ///
        /// - Returns: `nil` at the end of the body.
        public mutating func next() async throws(AtomError) -> String? { try await next(isolation: nil) }

        /// Waits for the next line, on the caller's actor.
        ///
        /// A loop calls it. It suspends only if no line is there.
        ///
        /// - Returns: `nil` at the end of the body.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> String? {
            try await lines.next { (splitter) throws(AtomError) in try splitter.nextText() }
        }
    }
}

/// Reads lines from a stream of bytes.
private struct Lines {
    /// `nil` after a failure.
    var reading: Reading?
    var splitter: LineSplitter
    var hasEnded = false

    mutating func next<Line>(
        isolation actor: isolated (any Actor)? = #isolation,
        _ take: (inout LineSplitter) throws(AtomError) -> Line?
    ) async throws(AtomError) -> Line? {
        try check()
        guard let reading else { return nil }
        do throws(AtomError) {
            while true {
                if let line = try take(&splitter) { return line }
                if hasEnded { return nil }
                if let part = try await reading.next() {
                    splitter.append(part)
                } else {
                    hasEnded = true
                    splitter.finish()
                }
            }
        } catch {
            throw failed(error)
        }
    }

    mutating func check() throws(AtomError) {
        do { try reading?.check() } catch { throw failed(error) }
    }

    /// Ends the reading with an error, which gets its request.
    mutating func failed(_ error: AtomError) -> AtomError { reading.take()?.naming(error) ?? error }
}

/// The lines of a response, decoded from JSON.
///
/// ``Service/jsonLines(of:maximumLineLength:)`` returns it.
public struct JSONLineStream<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    /// Every failure of the SDK.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public typealias Failure = AtomError

    /// The response without its body.
    public let response: AtomResponse

    private let handle: StreamHandle
    private let decoder: ResponseDecoder
    private let limit: Int

    init(_ handle: StreamHandle, response: AtomResponse, decoder: ResponseDecoder, limit: Int) {
        self.handle = handle
        self.response = response
        self.decoder = decoder
        self.limit = limit
    }

    /// Begins to read.
    ///
    /// A stream is read once; a second reading fails with
    /// ``AtomError/unexpected``.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            lines: Lines(reading: Reading(handle), splitter: LineSplitter(limit: limit)), response: response,
            decoder: decoder)
    }

    /// Reads a stream of values.
    public struct Iterator: AsyncIteratorProtocol {
        /// Every failure of the SDK.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public typealias Failure = AtomError

        fileprivate var lines: Lines
        fileprivate let response: AtomResponse
        fileprivate let decoder: ResponseDecoder
        /// What has been decoded and not been read, the last one first.
        private var values: [Element] = []
        /// What comes after those.
        private var failure: AtomError?

        fileprivate init(lines: Lines, response: AtomResponse, decoder: ResponseDecoder) {
            self.lines = lines
            self.response = response
            self.decoder = decoder
        }

        /// Waits for the next value.
        ///
        /// - Returns: `nil` at the end of the body.
        public mutating func next() async throws(AtomError) -> Element? { try await next(isolation: nil) }

        /// Waits for the next value.
        ///
        /// A loop calls it, on its own actor. The values that are there are decoded
        /// elsewhere, at once.
        ///
        /// - Returns: `nil` at the end of the body.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> Element? {
            while true {
                try lines.check()
                if let value = values.popLast() { return value }
                if let failure = failure.take() { throw lines.failed(failure) }
                guard let line = try await lines.next({ (splitter) throws(AtomError) in try splitter.next() })
                else { return nil }
                (values, failure, lines.splitter) = await Self.decoded(line, lines.splitter, response, decoder)
            }
        }

        /// Decodes a line and those behind it, off the caller's actor.
        private static func decoded(
            _ first: Data, _ rest: LineSplitter, _ response: AtomResponse, _ decoder: ResponseDecoder
        ) async -> ([Element], AtomError?, LineSplitter) {
            var (values, rest, next) = ([Element](), rest, Optional(first))
            var failure: AtomError?
            do throws(AtomError) {
                while let line = next {
                    if !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
                        let line = response.replacing(data: line)
                        values.append(try decoder.decode(Element.self, from: line, isWholeBody: false))
                    }
                    next = try rest.next()
                }
            } catch { failure = error }
            return (values.reversed(), failure, rest)
        }
    }
}

/// The server-sent events of a response.
///
/// ``Service/serverSentEvents(reconnection:lastEventID:maximumEventSize:)``
/// returns it.
public struct ServerSentEventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// Every failure of the SDK.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public typealias Failure = AtomError

    /// The first response without its body.
    public let response: AtomResponse

    private let source: EventSource
    private let limit: Int

    init(_ source: EventSource, response: AtomResponse, limit: Int) {
        self.source = source
        self.response = response
        self.limit = limit
    }

    /// Begins to read.
    ///
    /// A stream is read once; a second reading fails with
    /// ``AtomError/unexpected``.
    public func makeAsyncIterator() -> Iterator {
        let source = Source(source)
        // Only the reader may read the ID, which each reconnection changes.
        let parser = ServerSentEventParser(limit: limit, lastEventID: source.source?.lastEventID ?? "")
        return Iterator(source: source, parser: parser, limit: limit)
    }

    /// Closes the exchange when the iterator is released.
    fileprivate final class Source: Sendable {
        /// `nil` for a second reading.
        let source: EventSource?

        init(_ source: EventSource) { self.source = source.begin() ? source : nil }

        deinit { source?.close() }
    }

    /// Reads a stream of events.
    public struct Iterator: AsyncIteratorProtocol {
        /// Every failure of the SDK.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public typealias Failure = AtomError

        /// `nil` after the end.
        fileprivate var source: Source?
        fileprivate var parser: ServerSentEventParser
        fileprivate let limit: Int

        /// Waits for the next event.
        ///
        /// - Returns: `nil` at the end of the stream.
        public mutating func next() async throws(AtomError) -> ServerSentEvent? { try await next(isolation: nil) }

        /// Waits for the next event, on the caller's actor.
        ///
        /// A loop calls it. It suspends only if no event is there.
        ///
        /// - Returns: `nil` at the end of the stream.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(AtomError) -> ServerSentEvent? {
            guard let reading = source else { return nil }
            guard let source = reading.source else { throw .unexpected }
            do throws(AtomError) {
                try source.check()
                while true {
                    if let event = try parser.next() { return event }
                    var failure: AtomError?
                    do {
                        if let part = try await source.next() {
                            parser.append(part)
                            continue
                        }
                    } catch {
                        failure = error
                    }
                    let goesOn = try await source.reconnect(
                        after: failure, lastEventID: parser.lastEventID, serverDelay: parser.retry)
                    guard goesOn else { break }
                    parser = ServerSentEventParser(limit: limit, lastEventID: source.lastEventID)
                }
            } catch {
                self.source = nil
                throw source.naming(error)
            }
            self.source = nil
            return nil
        }
    }
}
