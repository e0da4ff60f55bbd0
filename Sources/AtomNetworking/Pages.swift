import Foundation

/// The pages of a list, each of which is asked for when it is wanted.
///
/// The functions ``Atom/pages(of:as:maximumPages:)`` and the like make one. Each page is a request like any other of the
/// service: it waits for the session, is signed, retried, shared and cached as its endpoint says, whose members may be
/// read more than once for it.
///
/// <!-- given the airline -->
/// ```swift
/// for try await flights in atom.pages(of: Departures(airport: "SEA"), as: [Flight].self) {
///     print(flights.count)
/// }
/// ```
///
/// Each iterator begins with the first page. Nothing is sent before its first `next()`, and a page only when `next()` is
/// called for it. An error ends the iterator. It is a value: a copy that was made before a failed `next()` asks for the
/// same page again.
///
/// **All pages are of one person.** After a sign-out or another sign-in, also of the same person or by the app's
/// variable, no page follows: neither one that waits nor one that is on its way. `next()` fails with
/// ``AuthenticationError/signedOut(delivery:)``. So it does after tokens that another process has stored, before the
/// next page is sent. Pages that the session doesn't sign are of whoever's cookies they may be sent with: they end when
/// these are removed.
public struct Pages<Page: Decodable & Sendable>: AsyncSequence, Sendable {
    /// Every failure of the SDK.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public typealias Failure = AtomError

    /// The endpoint of the page that follows a page and its endpoint; `nil` at the end of the list.
    typealias Following = @Sendable (DecodedResponse<Page>, any Requestable) throws -> (any Requestable)?

    private let first: any Requestable
    private let sharing: RequestSharing
    private let caching: RequestCaching?
    private let maximumPages: Int
    private let following: Following

    init(
        _ first: any Requestable, _ sharing: RequestSharing, _ caching: RequestCaching?, maximumPages: Int,
        following: @escaping Following
    ) {
        self.first = first
        self.sharing = sharing
        self.caching = caching
        self.maximumPages = maximumPages
        self.following = following
    }

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Asks for one page after the other.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        /// Every failure of the SDK.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public typealias Failure = AtomError

        private let pages: Pages
        /// What is asked for next, or why nothing can be; `nil` at the end, and after a failure.
        private var upcoming: Result<any Requestable, AtomError>?
        /// How many pages were asked for.
        private var count = 0
        /// By what the requests are known that were sent.
        private var asked: Set<String> = []
        /// Known from the first request on.
        private var owner: PageOwner?
        /// The response of the last page, without its body.
        private var last: AtomResponse?

        fileprivate init(_ pages: Pages) {
            self.pages = pages
            upcoming = .success(pages.first)
        }

        /// Asks for the next page, and waits for it.
        ///
        /// - Returns: `nil` at the end of the list.
        public nonisolated(nonsending) mutating func next() async throws(AtomError) -> Page? {
            try await next(isolation: #isolation)
        }

        /// Asks for the next page, in the order of the calls on the caller's actor, and waits for it.
        ///
        /// A loop calls it. The page is decoded elsewhere.
        ///
        /// - Returns: `nil` at the end of the list.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(AtomError) -> Page? {
            // Taken: an error ends the iterator.
            guard let endpoint = try upcoming.take()?.get() else { return nil }
            try check(endpoint)
            let manager = pages.sharing.manager
            var owner = owner ?? PageOwner(manager)
            guard owner.isThere(manager) else { throw isOver }
            let service = Service(endpoint, pages.sharing, pages.caching)
            let page = try await service.resume(decoding: Page.self, of: owner.person)
            last = page.response.replacing(data: Data())
            guard owner.mayGive(page.response, manager) else { throw isOver }
            self.owner = owner
            // Now, so that nobody has to keep the page for it.
            do {
                upcoming = try pages.following(page, endpoint).map(Result.success)
            } catch {
                upcoming = .failure(.thrown(error, by: "next", otherwise: RequestableError.endpointFailed))
            }
            return page.model
        }

        /// Refuses what would never end.
        private mutating func check(_ endpoint: any Requestable) throws(AtomError) {
            guard count < pages.maximumPages else {
                throw naming(.transfer(.tooLarge, "The list has more pages than maximumPages, \(pages.maximumPages)."))
            }
            count += 1
            // What breaks a rule is refused when it is sent, and observers hear of that.
            guard let description = try? RequestDescription(of: endpoint), let identity = description.identity,
                !asked.insert(identity).inserted
            else { return }
            let target = (try? description.target().description) ?? ""
            throw naming(
                .transfer(.repeatedPage, "The list leads back to a page that was asked for before: \(target)."))
        }

        private var isOver: AtomError { naming(.authentication(.signedOut(delivery: .answered))) }

        /// The error with the request of the last page that has come.
        private func naming(_ error: AtomError) -> AtomError {
            last.map { error.about($0, until: pages.sharing.manager.time.now) } ?? error
        }
    }
}

extension Pages: Redacted {}
extension Pages.Iterator: Redacted {}

/// Whose pages they are.
private struct PageOwner: Sendable {
    /// Whoever was there before the first page.
    private let visitor: Tenure
    /// Whether a page may have been sent with the visitor's cookies.
    private var hasCookies = false
    /// Whose credential of the session has signed the first page that was signed.
    private(set) var person: Tenure?

    init(_ manager: RequestableQueueManager) { visitor = manager.cookies.give(to: manager.tenure).0 }

    /// Whether nobody has come in place of the owner.
    mutating func isThere(_ manager: RequestableQueueManager) -> Bool {
        if let person { return manager.session?.mayRead(person) == true }
        let (now, mayHaveCookies) = manager.cookies.give(to: manager.tenure)
        guard now.hasSameCookies(as: visitor) else { return !hasCookies }
        hasCookies = hasCookies || mayHaveCookies
        return true
    }

    /// Whether a response is the owner's, who is still there.
    ///
    /// The counts of a tenure only grow. So who is there before and afterwards was there all the time.
    mutating func mayGive(_ response: AtomResponse, _ manager: RequestableQueueManager) -> Bool {
        if manager.session != nil, let tenure = response.tenure, tenure.hasSameSigner(as: visitor) {
            guard person.map(tenure.isSamePerson) ?? true else { return false }
            person = person ?? tenure
        }
        return isThere(manager)
    }
}

extension RequestDescription {
    /// Tells the request from others of a list: by the endpoint's method, URL, header fields and body; `nil` if that
    /// isn't known before it is sent.
    fileprivate var identity: String? {
        guard let target = try? target() else { return nil }
        var bytes = Array("\(method.name) \(target.absoluteString)\n".utf8)
        for item in headerItems { bytes += "\(item.name.lowercased()):\(item.value)\n".utf8 }
        if let body = method.body { bytes += body }
        if let body {
            // The keys of an object have an order of their own in each encoding.
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            guard let content = try? body.prepared(encoder: encoder).bytesInMemory else { return nil }
            bytes += content
        }
        return SHA256.hex(bytes)
    }
}
