import Foundation

/// What a server says of an error in a document of the type `application/problem+json` (RFC 9457).
///
/// An app that wants members of its own reads its own type with ``AtomError/decodeIfPresent(as:)``.
public struct ProblemDetails: Codable, Sendable, Hashable {
    /// A URI that identifies the kind; `about:blank` if the status code says all.
    public let type: String
    /// A short summary, the same for all problems of this kind.
    public let title: String?
    /// The status code, as the server that found the problem has set it.
    public let status: Int?
    /// What is special about this occurrence; it may be about a person.
    public let detail: String?
    /// A URI that identifies this occurrence.
    public let instance: String?

    /// Creates a document, for tests.
    public init(
        type: String = "about:blank", title: String? = nil, status: Int? = nil, detail: String? = nil,
        instance: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }

    /// Reads a document, without members of another type (RFC 9457 §3.1).
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func member<T: Decodable>(_ key: CodingKeys) -> T? { try? container.decode(T.self, forKey: key) }
        self.init(
            type: member(.type) ?? "about:blank", title: member(.title), status: member(.status),
            detail: member(.detail), instance: member(.instance))
    }

    static let mediaType = "application/problem+json"

    init?(of response: AtomResponse) {
        guard MediaType(response.headerFields["Content-Type"])?.name == Self.mediaType,
            let document = try? JSONDecoder().decode(Self.self, from: response.data)
        else { return nil }
        self = document
    }
}

extension AtomError {
    /// The problem document (RFC 9457) of the ``response-property``; `nil` if its
    /// media type isn't `application/problem+json`.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     print(error.problemDetails?.title ?? error.description)
    /// }
    /// ```
    public var problemDetails: ProblemDetails? { response.flatMap(ProblemDetails.init(of:)) }
}
