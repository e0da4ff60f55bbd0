/// An event of a stream of server-sent events.
///
/// The stream is a response of the type `text/event-stream`, which is read as the WHATWG's HTML standard says in
/// section 9.2.6, "Interpreting an event stream". There an event is never without data, though the data may be empty.
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` unless the server says otherwise.
    public let type: String

    /// The content, with a line feed between its lines.
    ///
    /// Bytes that aren't UTF-8 are replaced by U+FFFD.
    public let data: String

    /// The last event ID as of this event; empty if there is none.
    ///
    /// An event without an ID of its own has that of the one before it.
    public let id: String

    /// Creates an event, for example for a test.
    ///
    /// - Parameters:
    ///   - type: What kind of event it is.
    ///   - data: The content.
    ///   - id: The last event ID as of this event.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}
