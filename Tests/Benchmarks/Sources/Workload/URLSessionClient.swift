import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's code without a library: `URLSession.data(for:)` and a
/// `JSONDecoder`.
public struct URLSessionClient: Client {
    private let session: URLSession
    private let decoder = JSONDecoder()
    private let place: Place

    /// Makes a client.
    ///
    /// - Parameter isTuned: Whether features that cost time on Linux without
    ///   being used are disabled: cookies and a cache.
    public init(_ place: Place, isTuned: Bool = false) {
        self.place = place
        guard isTuned else {
            session = .shared
            return
        }
        let configuration = URLSessionConfiguration.default
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// Sends one request.
    public func flight() async throws {
        guard let url = URL(string: place.string) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
        let (data, response) = try await session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200...299).contains(status) else { throw UnexpectedAnswer(status: status) }
        _ = try decoder.decode(Flight.self, from: data)
    }
}
