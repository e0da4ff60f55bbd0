import AtomNetworking
import Foundation

/// What a ``ScriptedTransport`` does with a request.
///
/// An answer serves one request, unless ``times(_:)`` or ``always`` says otherwise.
public struct ScriptedResponse: Sendable {
    /// How the parts of a body end.
    public enum Ending: Sendable, Hashable {
        /// The response is complete.
        case complete
        /// The connection fails.
        case failure(URLError.Code)
        /// Nothing more comes, and the connection stays open.
        case never
    }

    indirect enum Content: Sendable {
        case response(status: Int, HeaderFields, parts: [Data], Ending)
        case file(URL, HeaderFields)
        case failure(URLError.Code, AtomError.Delivery)
        case never
        case delayed(Duration, ScriptedResponse)
        case computed(@Sendable (RecordedRequest) throws -> ScriptedResponse)
        /// It comes when the gate is opened.
        case gated(ReleaseGate, ScriptedResponse)
        /// The test gives it, in the closure or later.
        case byHand(endsOnCancel: Bool, @Sendable (ScriptedExchange) -> Void)
        /// It can't be given, for this reason.
        case impossible(String)
    }

    let content: Content
    /// How many requests it serves; `nil` for any number, also none.
    private(set) var uses: Int? = 1
    /// Whether it is a problem if nobody asks for it.
    var isRequired = true
    /// What it is, for messages.
    let name: String

    init(_ content: Content, name: String) {
        self.content = content
        self.name = name
    }

    private init(
        _ status: Int, _ items: [HeaderItem], contentType: String? = nil, parts: [Data] = [],
        ending: Ending = .complete, name: String
    ) {
        self.init(.response(status: status, Self.fields(items, contentType), parts: parts, ending), name: name)
    }

    /// The same answer for so many requests.
    ///
    /// - Parameter count: At least one; a smaller number counts as one.
    public func times(_ count: Int) -> ScriptedResponse {
        var answer = self
        answer.uses = max(count, 1)
        return answer
    }

    /// The same answer for any number of requests, also none.
    ///
    /// Answers after it are never given.
    public var always: ScriptedResponse {
        var answer = self
        answer.uses = nil
        return answer
    }

    static func fields(_ items: [HeaderItem], _ contentType: String?) -> HeaderFields {
        var fields = HeaderFields(items.map { HeaderItem(name: $0.name, value: $0.value) })
        if let contentType, !fields.contains("Content-Type") { fields.append(name: "Content-Type", value: contentType) }
        return fields
    }
}

// MARK: - Responses

extension ScriptedResponse {
    /// A value as JSON.
    ///
    /// - Parameters:
    ///   - value: What the encoder gets. If it can't be encoded, the request fails, and says so.
    ///   - status: The status code.
    ///   - headerItems: The header fields; the media type is `application/json` unless one of them says otherwise.
    ///   - encoder: For JSON that needs other settings.
    public static func json(
        _ value: any Encodable & Sendable, status: Int = 200, headerItems: [HeaderItem] = [],
        encoder: JSONEncoder = JSONEncoder()
    ) -> ScriptedResponse {
        do {
            let data = try encoder.encode(value)
            return ScriptedResponse(
                status, headerItems, contentType: "application/json", parts: [data], name: "json, status \(status)")
        } catch {
            let type = type(of: value)
            return ScriptedResponse(.impossible("a value of the type \(type) can't be encoded as JSON"), name: "json")
        }
    }

    /// A text as a value of JSON, in quotation marks, which is rarely meant.
    @available(*, deprecated, message: "This is a text in quotation marks. Use json(text:) for JSON as text.")
    public static func json(_ text: String, status: Int = 200, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        json(text as any Encodable & Sendable, status: status, headerItems: headerItems)
    }

    /// Bytes as a value of JSON, a text in Base64, which is rarely meant.
    @available(*, deprecated, message: "This is a text in Base64. Use data(_:status:headerItems:) for the bytes.")
    public static func json(_ data: Data, status: Int = 200, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        json(data as any Encodable & Sendable, status: status, headerItems: headerItems)
    }

    /// JSON as text.
    ///
    /// - Parameters:
    ///   - text: The body; it need not be valid.
    ///   - status: The status code.
    ///   - headerItems: The header fields; the media type is `application/json` unless one of them says otherwise.
    public static func json(text: String, status: Int = 200, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        ScriptedResponse(
            status, headerItems, contentType: "application/json", parts: [Data(text.utf8)],
            name: "json, status \(status)")
    }

    /// A response without a body.
    public static func status(_ status: Int, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        ScriptedResponse(status, headerItems, name: "status \(status)")
    }

    /// Plain text.
    public static func text(_ text: String, status: Int = 200, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        ScriptedResponse(
            status, headerItems, contentType: "text/plain; charset=utf-8", parts: [Data(text.utf8)],
            name: "text, status \(status)")
    }

    /// Bytes; the media type is `application/octet-stream` unless a header field says otherwise.
    public static func data(_ data: Data, status: Int = 200, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        ScriptedResponse(
            status, headerItems, contentType: "application/octet-stream", parts: [data],
            name: "data, status \(status)")
    }

    /// The content of a file, with the status 200; it is read in parts when it is asked for.
    ///
    /// If it can't be read, the request fails, and says so.
    public static func file(_ file: URL, headerItems: [HeaderItem] = []) -> ScriptedResponse {
        ScriptedResponse(
            .file(file, fields(headerItems, "application/octet-stream")), name: "file \(file.lastPathComponent)")
    }

    /// A body in parts, as it may arrive from a network.
    ///
    /// - Parameters:
    ///   - parts: Each is handed on by itself.
    ///   - status: The status code.
    ///   - headerItems: The header fields.
    ///   - ending: What comes after the last part.
    public static func chunks(
        _ parts: [Data], status: Int = 200, headerItems: [HeaderItem] = [], ending: Ending = .complete
    ) -> ScriptedResponse {
        ScriptedResponse(
            status, headerItems, parts: parts, ending: ending, name: "\(parts.count) chunks, status \(status)")
    }

    /// A stream of server-sent events; each is a part of its own.
    ///
    /// - Parameters:
    ///   - events: The events. An ID is written where it isn't that of the event before.
    ///   - headerItems: The header fields.
    ///   - ending: What comes after the last event.
    public static func events(
        _ events: [ServerSentEvent], headerItems: [HeaderItem] = [], ending: Ending = .complete
    ) -> ScriptedResponse {
        var lastID = ""
        let parts = events.map { event in
            var text = ""
            if event.id != lastID { text += "id: \(event.id)\n" }
            lastID = event.id
            if event.type != "message" { text += "event: \(event.type)\n" }
            let lines = event.data.split(omittingEmptySubsequences: false) { ["\n", "\r\n", "\r"].contains($0) }
            for line in lines {
                text += "data: \(line)\n"
            }
            return Data((text + "\n").utf8)
        }
        return ScriptedResponse(
            200, headerItems, contentType: "text/event-stream", parts: parts, ending: ending,
            name: "\(parts.count) events")
    }

    /// A stream of server-sent events of which only the data matters.
    public static func events(
        _ texts: [String], headerItems: [HeaderItem] = [], ending: Ending = .complete
    ) -> ScriptedResponse {
        events(texts.map { ServerSentEvent(data: $0) }, headerItems: headerItems, ending: ending)
    }

    /// A redirect to another URL, which may be relative (RFC 9110 §15.4).
    public static func redirect(
        to location: String, status: Int = 302, headerItems: [HeaderItem] = []
    ) -> ScriptedResponse {
        let items = headerItems + [HeaderItem(name: "Location", value: location)]
        return ScriptedResponse(status, items, name: "redirect, status \(status)")
    }

    /// A 401 as a server sends it for an access token that it doesn't accept (RFC 6750 §3.1).
    public static func unauthorized(
        challenge: String = #"Bearer error="invalid_token""#, headerItems: [HeaderItem] = []
    ) -> ScriptedResponse {
        let items = headerItems + [HeaderItem(name: "WWW-Authenticate", value: challenge)]
        return ScriptedResponse(401, items, name: "status 401")
    }
}

// MARK: - Everything else

extension ScriptedResponse {
    /// No response: the exchange fails.
    ///
    /// - Parameters:
    ///   - code: Why.
    ///   - delivery: Whether the request may have reached the server. With `.notSent`, and a code that may pass, such
    ///     as `.cannotConnectToHost`, the service sends the request once more by itself, and needs an answer for that
    ///     too.
    public static func failure(
        _ code: URLError.Code, delivery: AtomError.Delivery = .maybeSent
    ) -> ScriptedResponse {
        ScriptedResponse(.failure(code, delivery), name: "failure \(code.rawValue)")
    }

    /// No response, ever; the exchange ends when it is cancelled.
    ///
    /// That is also done by its timeout, which goes by the clock.
    public static var never: ScriptedResponse { ScriptedResponse(.never, name: "never") }

    /// An answer that comes when the wire's clock has been advanced so far.
    public static func delayed(_ duration: Duration, _ answer: ScriptedResponse) -> ScriptedResponse {
        ScriptedResponse(.delayed(duration, answer), name: "\(answer.name) after \(duration)")
    }

    /// An answer that the test gives by hand, with ``ScriptedTransport/exchange(_:fileID:filePath:line:)``.
    ///
    /// Until then the exchange waits, as with ``never``.
    public static var held: ScriptedResponse { held { _ in } }

    /// An answer that the test gives by hand, in the closure or later.
    ///
    /// - Parameters:
    ///   - endsOnCancel: Whether a cancelled exchange ends by itself, which is the default. Otherwise only the test
    ///     ends it: its answer arrives although the request was cancelled, as it may with a network.
    ///   - begin: Gets the exchange where ``computed(_:)`` would be asked: with
    ///     immediate delivery, inside the call that starts the request.
    public static func held(
        endsOnCancel: Bool = true, _ begin: @escaping @Sendable (ScriptedExchange) -> Void = { _ in }
    ) -> ScriptedResponse {
        ScriptedResponse(.byHand(endsOnCancel: endsOnCancel, begin), name: "held")
    }

    /// An answer that depends on the request.
    ///
    /// - Parameter answer: Called when the body of the request is complete, where the wire's
    ///   ``ScriptedTransport/Delivery`` says. If it throws, the request fails, and says so.
    public static func computed(
        _ answer: @escaping @Sendable (RecordedRequest) throws -> ScriptedResponse
    ) -> ScriptedResponse {
        ScriptedResponse(.computed(answer), name: "computed")
    }
}

extension ScriptedResponse: CustomStringConvertible {
    /// What kind of answer it is.
    public var description: String {
        switch uses {
        case 1: name
        case let count?: "\(name), \(count) times"
        case nil: "\(name), always"
        }
    }
}
