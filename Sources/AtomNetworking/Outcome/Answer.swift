import Foundation

/// A decoded body together with the response that it came in.
///
/// Expect it where the status code or a header field matters:
///
/// <!-- given:
/// import AtomNetworking
/// struct Seat: Model { let row: Int }
/// struct Seats: Requestable {
///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
/// }
/// let atom = Atom()
/// -->
/// ```swift
/// let answer = try await atom.enqueue(Seats()).resume(expecting: Answer<[Seat]>.self)
/// print(answer.value.count, answer.headerFields["ETag"] ?? "no tag", answer.statusCode ?? 0)
/// ```
public struct Answer<Value> {
    /// The decoded body.
    public let value: Value

    /// The response, with the body as it arrived.
    public let response: AtomResponse

    /// Creates an answer, for tests.
    public init(value: Value, response: AtomResponse) {
        self.value = value
        self.response = response
    }

    /// The status code of the response.
    public var statusCode: Int? { response.statusCode }

    /// The header fields of the response, looked up without regard to case.
    public var headerFields: HeaderFields { response.headerFields }
}

extension Answer: Sendable where Value: Sendable {}

extension Answer: Equatable where Value: Equatable {}

extension Answer: Decodable where Value: Decodable {
    /// Decodes the value alone, with an empty response; a service fills it in.
    public init(from decoder: any Decoder) throws {
        self.init(value: try Value(from: decoder), response: AtomResponse(statusCode: nil))
    }
}

extension Answer: WithResponse where Value: Decodable {
    static func decoding(_ response: AtomResponse, with decoder: JSONDecoder) throws(AtomError) -> Self {
        Answer(
            value: try ResponseDecoding.decode(Value.self, from: response, with: decoder), response: response)
    }
}

/// A type that is made of a response, and not only of its body.
protocol WithResponse {
    static func decoding(_ response: AtomResponse, with decoder: JSONDecoder) throws(AtomError) -> Self
}
