import AtomNetworking
import Observation

/// The mileage account, page by page.
@Observable
public final class MileageList {
    /// The lines that are loaded, the newest first.
    public private(set) var activities: [Activity] = []
    /// Whether a page is on its way.
    public private(set) var isLoading = false
    /// What went wrong last.
    public private(set) var message: String?
    /// Whether the server has more pages.
    public private(set) var hasMore = false

    /// Where the list goes on.
    @ObservationIgnored private var pages: Pages<ActivityPage>.Iterator?
    /// Counts the refreshes: a page that belongs to an older list is dropped.
    @ObservationIgnored private var generation = 0
    private let service: AirlineService

    /// Creates a list over a service.
    public init(_ service: AirlineService) {
        self.service = service
    }

    /// Loads the list, for the first time or again: for `task` and `refreshable`.
    ///
    /// The old lines stay until the new ones are there.
    public func refresh() async {
        generation += 1
        let list = service.atom.pages(of: AccountEndpoint.activity(service.base)) { (page: ActivityPage) in page.next }
        await load(list.makeAsyncIterator(), replacing: true)
    }

    /// Loads the next page if there is one: for `onAppear` of the last line, and for a button after a failure.
    public func loadMore() async {
        guard let pages, hasMore, !isLoading else { return }
        await load(pages, replacing: false)
    }

    /// - Parameter pages: A copy, so that a page that failed can be asked for again.
    private func load(_ pages: Pages<ActivityPage>.Iterator, replacing: Bool) async {
        var pages = pages
        let generation = generation
        isLoading = true
        defer { if generation == self.generation { isLoading = false } }
        do {
            guard let page = try await pages.next(), generation == self.generation else { return }
            activities = (replacing ? [] : activities) + page.activities
            hasMore = page.next != nil
            self.pages = pages
            message = nil
        } catch {
            guard generation == self.generation else { return }
            message = ErrorMessage.text(for: error)
        }
    }
}
