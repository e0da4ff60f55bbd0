import AtomNetworking
import AtomNetworkingTesting
import Foundation

// The code under test: a small app.

struct Page: Model, Equatable {
    var number = 0
    var titles: [String] = []
}

struct PageEndpoint: Requestable {
    var number = 0
    var requiresAuthorization = true

    var queryItems: [QueryItem]? { ["n": number] }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath("/page") }
}

/// An endpoint in which everything can be chosen.
struct Call: Requestable {
    var method: HTTPMethod = .get
    var route = "/x"
    var queryItems: [QueryItem]?
    var headerItems: [HeaderItem]?
    var body: RequestBody?
    var requiresAuthorization = true

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath(route) }
}

/// Shows a page, and then the next one.
@MainActor
final class ListModel {
    enum State: Equatable {
        case empty, loading, failed
        case loaded([Page])
    }

    private(set) var state = State.empty
    private let atom: Atom
    private let pages: Int

    init(atom: Atom, pages: Int = 1) {
        self.atom = atom
        self.pages = pages
    }

    func appear() {
        state = .loading
        Task {
            do {
                var loaded: [Page] = []
                for number in 0..<pages {
                    loaded.append(try await atom.enqueue(PageEndpoint(number: number)).resume(expecting: Page.self))
                }
                state = .loaded(loaded)
            } catch {
                state = .failed
            }
        }
    }
}

/// What a wire has reported.
final class Reports: @unchecked Sendable {
    private let lock = NSLock()
    private var problems: [ScriptProblem] = []

    var all: [ScriptProblem] { lock.withLock { problems } }

    func add(_ problem: ScriptProblem) { lock.withLock { problems.append(problem) } }

    /// The first one, as soon as it is there: a wire that has answered may go away a moment after the test
    /// has let it go.
    func first() async -> ScriptProblem? {
        while all.isEmpty, !Task.isCancelled { await Task.yield() }
        return all.first
    }
}
