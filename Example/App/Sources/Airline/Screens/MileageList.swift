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
    public var hasMore: Bool { next != nil }

    private var next: LinkedEndpoint?
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
        await load(service.atom.enqueue(AccountEndpoint.activity(service.base)), replacing: true)
    }

    /// Loads the next page if there is one: for `onAppear` of the last line, and for a button after a failure.
    public func loadMore() async {
        guard let next, !isLoading else { return }
        await load(service.atom.enqueue(next), replacing: false)
    }

    private func load(_ request: Service, replacing: Bool) async {
        let generation = generation
        isLoading = true
        defer { if generation == self.generation { isLoading = false } }
        do {
            let answer = try await request.resume(decoding: ActivityPage.self)
            guard generation == self.generation else { return }
            activities = (replacing ? [] : activities) + answer.model.activities
            next = nil
            message = nil
            if let link = answer.model.next { next = try LinkedEndpoint(link, in: answer.response) }
        } catch {
            guard generation == self.generation else { return }
            message = ErrorMessage.text(for: error)
        }
    }
}
