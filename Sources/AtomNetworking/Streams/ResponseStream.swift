import Foundation

/// The body of a response while it arrives: its parts, its lines, the values in its lines, or its server-sent events.
///
/// The functions of ``Service`` that return one say what its elements are. A
/// stream is read once; a second reading fails with ``AtomError/unexpected``.
public struct ResponseStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Every failure of the SDK.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public typealias Failure = AtomError

    /// The response without its body; of several, the first one.
    public let response: AtomResponse

    private let makeReader: @Sendable () -> any StreamReader<Element>
    private let isBegun = Guarded(false)

    private init(_ response: AtomResponse, makeReader: @escaping @Sendable () -> any StreamReader<Element>) {
        self.response = response
        self.makeReader = makeReader
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: isBegun.isSetNow() ? makeReader() : nil) }

    /// Reads a stream.
    public struct Iterator: AsyncIteratorProtocol {
        /// Every failure of the SDK.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public typealias Failure = AtomError

        /// `nil` for a second reading, and after a failure.
        fileprivate var reader: (any StreamReader<Element>)?
        fileprivate var hasFailed = false

        /// Waits for the next element.
        ///
        /// - Returns: `nil` at the end of the stream.
        public mutating func next() async throws(AtomError) -> Element? { try await next(isolation: nil) }

        /// Waits for the next element, on the caller's actor.
        ///
        /// A loop calls it. It suspends only if no element is there, and to decode values elsewhere.
        ///
        /// - Returns: `nil` at the end of the stream.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> Element? {
            guard !hasFailed else { return nil }
            guard reader != nil else { throw .unexpected }
            do throws(AtomError) { return try await reader?.next(isolation: actor) } catch {
                (reader, hasFailed) = (nil, true)
                throw error
            }
        }
    }
}

extension ResponseStream<Data> {
    /// The parts of a body; none is empty.
    init(_ handle: StreamHandle, _ response: AtomResponse) {
        self.init(response) { PartReader(handle) }
    }
}

extension ResponseStream<String> {
    /// The lines of a body, without their ends.
    init(_ handle: StreamHandle, _ response: AtomResponse, limit: Int) {
        self.init(response) { TextReader(lines: LineReader(handle, limit: limit)) }
    }
}

extension ResponseStream where Element: Decodable {
    /// The values in the lines of a body.
    init(_ handle: StreamHandle, _ response: AtomResponse, decoder: ResponseDecoder, limit: Int) {
        self.init(response) {
            ValueReader(lines: LineReader(handle, limit: limit), response: response, decoder: decoder)
        }
    }
}

extension ResponseStream<ServerSentEvent> {
    init(_ source: EventSource, _ response: AtomResponse, limit: Int) {
        self.init(response) { EventReader(source, limit: limit) }
    }
}

// MARK: - Reading

/// Reads the elements of a stream, until one fails.
private protocol StreamReader<Element> {
    associatedtype Element

    mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> Element?
}

/// Closes the exchange when it is released.
private final class PartReader: StreamReader, Sendable {
    private let handle: StreamHandle

    init(_ handle: StreamHandle) { self.handle = handle }

    deinit { stream.drop() }

    var stream: StreamedResponse { handle.stream }

    func next(isolation actor: isolated (any Actor)? = #isolation) async throws(AtomError) -> Data? {
        try await stream.next()
    }
}

private struct LineReader {
    let parts: PartReader
    var splitter: LineSplitter
    private var hasEnded = false

    init(_ handle: StreamHandle, limit: Int) {
        parts = PartReader(handle)
        splitter = LineSplitter(limit: limit)
    }

    mutating func next<Line>(
        isolation actor: isolated (any Actor)? = #isolation,
        _ take: (inout LineSplitter) throws(AtomError) -> Line?
    ) async throws(AtomError) -> Line? {
        do throws(AtomError) {
            try parts.stream.check()
            while true {
                if let line = try take(&splitter) { return line }
                if hasEnded { return nil }
                if let part = try await parts.next() {
                    splitter.append(part)
                } else {
                    hasEnded = true
                    splitter.finish()
                }
            }
        } catch {
            throw parts.stream.naming(error)
        }
    }
}

private struct TextReader: StreamReader {
    var lines: LineReader

    mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> String? {
        try await lines.next { (splitter) throws(AtomError) in try splitter.nextText() }
    }
}

private struct ValueReader<Element: Decodable & Sendable>: StreamReader {
    var lines: LineReader
    let response: AtomResponse
    let decoder: ResponseDecoder
    /// What has been decoded and not been read, the last one first.
    var values: [Element] = []
    /// What comes after those.
    var failure: AtomError?

    mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> Element? {
        while true {
            try lines.parts.stream.check()
            if let value = values.popLast() { return value }
            if let failure { throw lines.parts.stream.naming(failure) }
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

private struct EventReader: StreamReader {
    /// `nil` after the end.
    private var connection: Connection?
    private var parser: ServerSentEventParser
    private let limit: Int

    init(_ source: EventSource, limit: Int) {
        connection = Connection(source)
        self.limit = limit
        parser = ServerSentEventParser(limit: limit, lastEventID: source.lastEventID)
    }

    /// Closes the exchange when the reader is released.
    private final class Connection: Sendable {
        let source: EventSource

        init(_ source: EventSource) { self.source = source }

        deinit { source.close() }
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> ServerSentEvent? {
        guard let source = connection?.source else { return nil }
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
            throw source.naming(error)
        }
        self.connection = nil
        return nil
    }
}
