/// A model for answers without a body: any acceptable answer decodes to it.
public struct NoContent: Codable, Hashable, Sendable {
    /// Makes the one value there is.
    public init() {}

    /// Reads nothing.
    public init(from decoder: any Decoder) throws {}

    /// Writes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}
