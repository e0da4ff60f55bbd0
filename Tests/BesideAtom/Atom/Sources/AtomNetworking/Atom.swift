// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Requestable: Sendable {
    func path() -> String
}

public struct Atom: Sendable {
    public init() {}

    public func enqueue(_ endpoint: any Requestable) -> Service { Service(endpoint) }
}

public final class Service: Sendable {
    private let endpoint: any Requestable

    init(_ endpoint: any Requestable) { self.endpoint = endpoint }

    public func resume() async throws(AtomError) -> AtomResponse { throw .session(endpoint.path()) }
}

public struct AtomResponse: Sendable {}

public enum AtomError: Error {
    case session(String)
}
