import Foundation

// Lists that come in pages.
extension Atom {
    /// The pages of a list whose server names the next one in a `Link` field with `rel="next"` (RFC 8288).
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// for try await flights in atom.pages(of: Departures(airport: "SEA"), as: [Flight].self) {
    ///     print(flights.count)
    /// }
    /// ```
    ///
    /// The next page is asked for with a GET of that URL, by the rules of ``LinkedEndpoint`` and with the endpoint's
    /// timeout, retry policy, caching and the like. The endpoint's own header fields go along to its own origin only.
    /// The list ends with a page without such a field, of which 64 KiB are read.
    ///
    /// - Parameters:
    ///   - endpoint: The request for the first page.
    ///   - type: The type of a page; ``DecodedResponse`` gives the page with its response.
    ///   - maximumPages: If the list has more, it fails with ``TransferError/Reason-swift.enum/tooLarge``.
    /// - Returns: The pages. They fail with what `resume` throws; with
    ///   ``TransferError/Reason-swift.enum/repeatedPage`` if the list leads back to one of its pages; and with
    ///   ``AuthenticationError/signedOut(delivery:)`` if the person whose pages they are has gone.
    public func pages<Page: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        of endpoint: any Requestable, as type: Page.Type, maximumPages: Int = 10_000
    ) -> Pages<Page> {
        Pages(endpoint, sharing, caching, maximumPages: maximumPages) { page, _ in
            let link = page.response.headerFields.links("next").first { page.response.isContext(of: $0) }
            return try link.map { try LinkedEndpoint($0.reference, in: page.response, pageOf: endpoint) }
        }
    }

    /// The pages of a list in which each page has the URL of the next one, absolute or relative to its own.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// nonisolated struct FlightPage: Model { let flights: [Flight], next: String? }
    ///
    /// let pages = atom.pages(of: Departures(airport: "SEA")) { (page: FlightPage) in page.next }
    /// for try await page in pages {
    ///     print(page.flights.count)
    /// }
    /// ```
    ///
    /// It follows the URLs as ``pages(of:as:maximumPages:)`` does. A cursor is no URL: give a closure with two arguments,
    /// which returns an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The request for the first page.
    ///   - maximumPages: If the list has more, it fails with ``TransferError/Reason-swift.enum/tooLarge``.
    ///   - next: Returns the URL of the next page; `nil` at the end of the list. It is called once for each page, as
    ///     soon as that has come. What it throws arrives as ``RequestableError/endpointFailed(_:cause:)``.
    public func pages<Page: Decodable & Sendable>(
        of endpoint: any Requestable, maximumPages: Int = 10_000, next: @escaping @Sendable (Page) throws -> String?
    ) -> Pages<Page> {
        Pages(endpoint, sharing, caching, maximumPages: maximumPages) { page, _ in
            try next(page.model).map { try LinkedEndpoint($0, in: page.response, pageOf: endpoint) }
        }
    }

    /// The pages of a list in which each page has the URL of the next one, decoded as a `URL`.
    ///
    /// - Parameters:
    ///   - endpoint: The request for the first page.
    ///   - maximumPages: If the list has more, it fails with ``TransferError/Reason-swift.enum/tooLarge``.
    ///   - next: Returns the URL of the next page; `nil` at the end of the list.
    public func pages<Page: Decodable & Sendable>(
        of endpoint: any Requestable, maximumPages: Int = 10_000, next: @escaping @Sendable (Page) throws -> URL?
    ) -> Pages<Page> {
        pages(of: endpoint, maximumPages: maximumPages) { (page: Page) in try next(page)?.absoluteString }
    }

    /// The pages of a list whose next page is asked for with an endpoint of yours: by a cursor, an offset or a number.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// nonisolated struct Search: Requestable {
    ///     var offset = 0
    ///     var queryItems: [QueryItem]? { ["offset": offset] }
    ///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    /// }
    ///
    /// let pages = atom.pages(of: Search()) { (flights: [Flight], last) in
    ///     flights.isEmpty ? nil : Search(offset: last.offset + flights.count)
    /// }
    /// for try await flights in pages {
    ///     print(flights.count)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The request for the first page.
    ///   - maximumPages: If the list has more, it fails with ``TransferError/Reason-swift.enum/tooLarge``.
    ///   - next: Gets a page and the endpoint that it was asked for with, and returns the one for the next page; `nil`
    ///     at the end of the list. It is called once for each page, as soon as that has come. What it throws arrives as
    ///     ``RequestableError/endpointFailed(_:cause:)``.
    /// - Returns: The pages, which fail as those of ``pages(of:as:maximumPages:)``. Two requests are the same if method,
    ///   URL, the endpoint's header fields and body are.
    public func pages<Endpoint: Requestable, Page: Decodable & Sendable>(
        of endpoint: Endpoint, maximumPages: Int = 10_000,
        next: @escaping @Sendable (Page, Endpoint) throws -> Endpoint?
    ) -> Pages<Page> {
        Pages(endpoint, sharing, caching, maximumPages: maximumPages) { page, last in
            try (last as? Endpoint).flatMap { try next(page.model, $0) }
        }
    }
}

extension AtomResponse {
    /// Whether a link in it starts from it, and not from something else (RFC 8288 §3.2).
    fileprivate func isContext(of link: WebLink) -> Bool {
        guard let anchor = link.anchor else { return true }
        let base = address.flatMap { TargetURL.resolving($0, against: nil) }
        return base != nil && TargetURL.resolving(anchor, against: base) == base
    }
}
