import AtomNetworking
import Foundation

/// Requests of metadata: nothing of the app signs them, and nothing leads them to another address.
struct MetadataRequest: Sendable {
    /// For apps without a cache of their own; a response may take half of it.
    private static let cache = ResponseCache(memory: 2 * maximumSize)
    private static let maximumSize = 1 << 20

    private let atom: Atom

    init(_ configuration: ServiceConfiguration) {
        var configuration = configuration
        // What is meant for the app's own server isn't for this one: everybody who asks gets the same document.
        configuration.authenticationMethod = .none
        configuration.headerItems = []
        configuration.adapters = []
        configuration.signers = []
        configuration.plugins = []
        // With a jar of its own, which stays empty.
        configuration.configuration = .ephemeral
        // What an app's own transport brings isn't for everybody in the process.
        configuration.cache = configuration.cache ?? (configuration.transport == nil ? Self.cache : nil)
        configuration.transport = CookielessTransport(
            transport: configuration.transport ?? configuration.makeDefaultTransport())
        // The document is at this address (RFC 8414 §3.2 knows only 200), and a redirect could lead to anybody's.
        configuration.redirectLimit = nil
        configuration.maximumResponseSize = min(configuration.maximumResponseSize, Self.maximumSize)
        atom = Atom(serviceConfiguration: configuration)
    }

    /// Asks for a document, at the next address if the server has none at the first.
    func document(
        at address: URLEndpoint, or others: ArraySlice<URLEndpoint> = []
    ) async throws(AtomError) -> MetadataDocument {
        var endpoint = address
        endpoint.headerItems = ["Accept": "application/json"]
        endpoint.acceptableStatusCodes = 200...200
        endpoint.caching = .whileCacheFresh
        do throws(AtomError) {
            return try MetadataDocument(await atom.enqueue(endpoint).resume().data)
        } catch {
            guard let next = others.first, Self.meansElsewhere(error) else { throw error }
            return try await document(at: next, or: others.dropFirst())
        }
    }

    /// Whether the server says that there is no document; many redirect what they don't know to a page for people.
    private static func meansElsewhere(_ error: AtomError) -> Bool {
        // 429 is about all requests (RFC 6585 §4).
        guard case .response(let response) = error, let status = response.statusCode else { return false }
        return (300..<500).contains(status) && status != 429
    }
}
