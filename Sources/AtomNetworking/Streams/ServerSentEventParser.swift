import Foundation

/// Reads the events of a `text/event-stream`.
///
/// It follows the WHATWG's HTML standard, section 9.2.6, "Interpreting an event stream". At the end of the response
/// there is nothing to do: an event without the blank line after it is discarded.
struct ServerSentEventParser {
    private let limit: Int
    private var splitter: LineSplitter
    private var fields: EventFields

    /// The ID of the last complete event, even of one without data, to send as `Last-Event-ID` with the next request;
    /// empty if there is none.
    ///
    /// One that can't be in a header field leaves the one before it here.
    private(set) var lastEventID: String

    /// How long to wait before the next request; `nil` if the server didn't say.
    var retry: Duration? { fields.retry }

    /// Creates a parser for one response.
    ///
    /// The limit is for the bytes of one event's fields, without the ends of their
    /// lines; a comment may have as many by itself. The last event ID is empty for
    /// each response in the standard; browsers go on with the one that they sent.
    init(limit: Int, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        splitter = LineSplitter(limit: limit)
        fields = EventFields(id: lastEventID)
    }

    /// Adds the next part of the response.
    ///
    /// Take all events before the next part, see ``LineSplitter``.
    mutating func append(_ part: Data) {
        if !isTooLarge { splitter.append(part) }
    }

    /// Returns the next event; `nil` if the rest is incomplete.
    ///
    /// It fails if the event or a line is larger than the limit, and again at each call.
    mutating func next() throws(AtomError) -> ServerSentEvent? {
        while !isTooLarge, let line = try splitter.nextRange() {
            if line.isEmpty {
                let event = fields.takeEvent()
                if HTTPGrammar.violation(inFieldValue: fields.id) == nil { lastEventID = fields.id }
                if let event { return event }
            } else {
                splitter.withBytes(in: line) { fields.take($0) }
            }
        }
        guard !isTooLarge else {
            let explanation = "An event of the response is larger than \(limit) bytes."
            throw .transfer(TransferError(.tooLarge, explanation, delivery: .answered))
        }
        return nil
    }

    private var isTooLarge: Bool { fields.size > limit }
}

/// The fields of the event that is being read.
private struct EventFields {
    /// The bytes of all lines of this event that are kept.
    private(set) var size = 0
    /// The last event ID, which stays from event to event.
    private(set) var id: String
    private(set) var retry: Duration?
    private var type = ""
    /// Each line of the data with an LF after it.
    private var data: [UInt8] = []

    init(id: String) { self.id = id }

    /// Ends the event, and returns it if it has data.
    mutating func takeEvent() -> ServerSentEvent? {
        defer {
            size = 0
            type = ""
            data.removeAll(keepingCapacity: true)
        }
        guard !data.isEmpty else { return nil }
        let text = data.withUnsafeBufferPointer { String(decoding: $0.dropLast(), as: UTF8.self) }
        return ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: id)
    }

    /// Takes a line that isn't blank.
    mutating func take(_ line: UnsafeRawBufferPointer) {
        guard let start = line.baseAddress else { return }
        let colon = memchr(start, CInt(UInt8(ascii: ":")), line.count).map { UnsafeRawPointer($0) - start }
        let name = UnsafeRawBufferPointer(rebasing: line[..<(colon ?? line.count)])
        var value = UnsafeRawBufferPointer(rebasing: line[(colon.map { $0 + 1 } ?? line.count)...])
        if value.first == UInt8(ascii: " ") { value = UnsafeRawBufferPointer(rebasing: value.dropFirst()) }
        // A comment has an empty name.
        if name.isEqual(to: "data") {
            size += line.count
            data.append(contentsOf: value.bindMemory(to: UInt8.self))
            data.append(0x0A)
        } else if name.isEqual(to: "event") {
            size += line.count
            type = String(decoding: value, as: UTF8.self)
        } else if name.isEqual(to: "id") {
            guard !value.contains(0) else { return }
            size += line.count
            id = String(decoding: value, as: UTF8.self)
        } else if name.isEqual(to: "retry") {
            takeRetry(value)
        }
    }

    /// Takes milliseconds, of which there may be too many for a number.
    private mutating func takeRetry(_ value: UnsafeRawBufferPointer) {
        guard value.allSatisfy({ (0x30...0x39).contains($0) }),
            let milliseconds = Int64(String(decoding: value, as: UTF8.self))
        else { return }
        retry = .milliseconds(milliseconds)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isEqual(to name: StaticString) -> Bool {
        guard let baseAddress, count == name.utf8CodeUnitCount else { return false }
        return memcmp(baseAddress, name.utf8Start, count) == 0
    }
}
