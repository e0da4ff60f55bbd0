import Foundation

/// A decoded body together with the response that it came in.
///
/// ``Service/resume(decoding:)`` returns one; elsewhere expect it in place of the
/// model. <doc:DefiningRequests> shows it.
public struct DecodedResponse<Body> {
    /// The decoded body.
    public let model: Body

    /// The response, with the body as it arrived.
    public let response: AtomResponse

    /// Creates a decoded response, for tests.
    public init(model: Body, response: AtomResponse) {
        self.model = model
        self.response = response
    }
}

extension DecodedResponse: Sendable where Body: Sendable {}

extension DecodedResponse: Equatable where Body: Equatable {}

extension DecodedResponse: Decodable where Body: Decodable {
    /// Decodes the model alone, with an empty response; a service fills it in.
    public init(from decoder: any Decoder) throws {
        self.init(model: try Body(from: decoder), response: AtomResponse(statusCode: nil))
    }
}

extension DecodedResponse: WithResponse where Body: Decodable {
    static func decoding(_ response: AtomResponse, with decoder: JSONDecoder) throws(AtomError) -> Self {
        DecodedResponse(
            model: try ResponseDecoder.decode(Body.self, from: response, with: decoder), response: response)
    }
}

/// A type that is made of a response, and not only of its body.
protocol WithResponse {
    static func decoding(_ response: AtomResponse, with decoder: JSONDecoder) throws(AtomError) -> Self
}
