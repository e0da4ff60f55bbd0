/// A model for responses without a body: every acceptable response decodes to it.
public struct NoContent: Codable, Hashable, Sendable {
    /// Creates the only value.
    public init() {}
}
