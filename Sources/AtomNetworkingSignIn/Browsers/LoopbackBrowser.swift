import AtomNetworking
import Foundation

/// The system's browser, for a tool: the callback comes to a port of this device (RFC 8252 §7.3).
public struct LoopbackBrowser: AuthorizationBrowser {
    /// The port; 0, the default, for any free one. Servers accept any (RFC 8252 §7.3), if they follow the rule.
    public var port = 0
    /// The path of the redirect URI.
    public var path = "/callback"
    /// How long it is waited for the callback.
    public var timeout: Duration = .seconds(300)
    /// Opens the address in a browser; by default with `open` or `xdg-open`. It returns whether that was possible.
    public var open: @Sendable (URL) async -> Bool
    /// Shows the address where no browser could be opened; by default on standard error.
    public var show: @Sendable (URL) -> Void

    /// Creates a browser.
    public init(
        open: (@Sendable (URL) async -> Bool)? = nil, show: (@Sendable (URL) -> Void)? = nil
    ) {
        fatalError("to be written")
    }

    public func authorize(
        _ page: @escaping @Sendable (_ redirectURI: String) async throws -> URL
    ) async throws -> URL {
        fatalError("to be written")
    }
}
