import Foundation

/// The body of a request, with its media type.
///
/// A body is created once per `resume`, on the caller. Redirects and retries send the same bytes. Files and streams are
/// read while they are sent, so their size doesn't matter.
public struct RequestBody: Sendable {
    /// The media type that is sent as `Content-Type`, unless the endpoint's own header items set one.
    public let contentType: String

    let content: Content

    enum Content: Sendable {
        case data(Data)
        case encoded(@Sendable (JSONEncoder) throws -> Data)
        case file(URL)
        case form(MultipartForm, boundary: String)
        case sequence(BodySequence)
        case nothing
    }

    /// No body: the default of an endpoint whose body isn't optional.
    static let nothing = RequestBody(contentType: "", content: .nothing)

    var isNothing: Bool { if case .nothing = content { true } else { false } }

    /// A body of raw bytes.
    public static func data(_ data: Data, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, content: .data(data))
    }

    /// Not a body: write a model, or values of one type.
    @available(*, unavailable, message: "values of several types aren't Encodable: write a model")
    public static func json(_ value: [String: Any]) -> RequestBody { .nothing }

    /// A value as JSON (RFC 8259), encoded when the request is prepared, by default
    /// with the encoder of the service's configuration.
    ///
    /// If that isn't possible, the request fails with ``RequestableError/invalidBody(_:)``.
    public static func json<T: Encodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        _ value: T, encoder: JSONEncoder? = nil
    ) -> RequestBody {
        RequestBody(
            contentType: "application/json", content: .encoded { [encoder] own in try (encoder ?? own).encode(value) })
    }

    /// Names and values as a form, with percent-encoding.
    public static func form(_ items: [QueryItem]) -> RequestBody {
        RequestBody(
            contentType: "application/x-www-form-urlencoded",
            content: .data(Data(PercentEncoding.form(items).utf8)))
    }

    // Disfavored: else a literal would be a dictionary, and lose its order.
    /// Names and values as a form, in the order of the names.
    ///
    /// A dictionary literal keeps its own order: it is a list of items.
    @_disfavoredOverload
    public static func form(_ values: [String: String]) -> RequestBody {
        form(values.sorted { $0.key < $1.key }.map { QueryItem(name: $0.key, value: $0.value) })
    }

    /// The content of a file, which is read while it is sent.
    ///
    /// When the request is prepared, the file must exist, be a regular file and be readable, or the request fails with
    /// ``RequestableError/invalidBody(_:)``. A file that changes while it is sent ends the exchange with
    /// ``TransferError/Reason/bodyLengthChanged``, except over ``URLSessionTransport`` on Apple platforms, which
    /// read the file themselves.
    public static func file(_ url: URL, contentType: String = "application/octet-stream") -> RequestBody {
        RequestBody(contentType: contentType, content: .file(url))
    }

    /// A form with fields and files as `multipart/form-data` (RFC 7578).
    ///
    /// Its files are checked like those of ``file(_:contentType:)`` and read
    /// while they are sent. The length is known, and is sent.
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        let boundary = form.makeBoundary(using: &generator)
        return RequestBody(
            contentType: form.contentType(boundary: boundary), content: .form(form, boundary: boundary))
    }

    /// A stream of parts, which are asked for as fast as they are sent.
    ///
    /// ``URLSessionTransport`` writes them to a temporary file first. <doc:SendingData> has examples.
    ///
    /// The closure makes the stream anew whenever the request is sent: for the first time, after a 401, for a retry,
    /// or after a redirect that keeps the body. It runs in a task of its own. If it throws, or the stream does, the exchange ends
    /// with ``TransferError/Reason/bodyFailed`` and the error.
    ///
    /// - Parameters:
    ///   - contentType: The media type.
    ///   - length: The number of bytes; `nil` if it isn't known. Over HTTP/1.1 a body of unknown length is sent in
    ///     chunks, which some servers refuse. A stream that gives another number of bytes ends the exchange with
    ///     ``TransferError/Reason/bodyLengthChanged``; one that is announced as empty is read before anything is sent.
    ///   - isRepeatable: Whether the closure can make the same stream again. If not, a request whose body has been
    ///     begun is never sent again: after a 401 or a redirect it ends with ``TransferError/Reason/bodyNotRepeatable``
    ///     and the response, else with what it met.
    ///   - make: Makes the stream.
    public static func stream<S: AsyncSequence>(
        contentType: String = "application/octet-stream", length: Int64? = nil, isRepeatable: Bool = true,
        _ make: @escaping @Sendable () async throws -> S
    ) -> RequestBody where S.Element == Data, S: SendableMetatype, S.AsyncIterator: SendableMetatype {
        RequestBody(
            contentType: contentType,
            content: .sequence(BodySequence(length: length, isRepeatable: isRepeatable, make)))
    }

    /// What is sent, after all checks that need no network.
    func prepared(encoder: JSONEncoder = JSONEncoder()) throws(AtomError) -> TransportBody {
        switch content {
        case .nothing:
            return .data(Data())
        case .data(let data):
            return .data(data)
        case .encoded(let encode):
            do {
                return .data(try encode(encoder))
            } catch {
                throw Self.invalid("the value could not be encoded: \(Self.explanation(of: error))")
            }
        case .file(let url):
            return TransportBody(try BodySegments([.file(FileSegment(url: url))]), fileURL: url)
        case .form(let form, let boundary):
            return TransportBody(try form.segments(boundary: boundary))
        case .sequence(let sequence):
            if let length = sequence.length, length < 0 { throw Self.invalid("its length is negative") }
            if sequence.isSpent {
                let explanation = "The stream of the body can be read only once, and has been read."
                throw .transfer(.bodyNotRepeatable, explanation, delivery: .notSent)
            }
            return TransportBody(sequence)
        }
    }

    private static func invalid(_ reason: String) -> AtomError { .requestable(.invalidBody(.init(reason: reason))) }

    private static func explanation(of error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return "\(type(of: error))" }
        let path = context.codingPath.map { Redaction.name($0.stringValue) }.joined(separator: ".")
        let explanation = Redaction.excerpt(context.debugDescription, limit: 300)
        return path.isEmpty ? explanation : "\(explanation) at “\(path)”"
    }
}

extension RequestBody: Redacted {
    /// Shows the media type; never the content.
    public var description: String { "RequestBody(\(contentType))" }
}
