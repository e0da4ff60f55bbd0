/// A model for responses without a body: every acceptable response decodes to
/// it.
public struct NoContent: Codable, Hashable, Sendable {
    /// Creates the only value.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) throws {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}
