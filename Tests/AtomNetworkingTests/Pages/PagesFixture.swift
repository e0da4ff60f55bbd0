import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// A page of numbers.
struct NumberPage: Model, Equatable {
    var items: [Int]
    var next: String?
}

/// A page of a list, by its number.
struct ListEndpoint: Requestable {
    var number = 1
    var requiresAuthorization = true
    var sharesIdenticalRequests = false
    var headerItems: [HeaderItem]?

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath("/list/\(number)") }

    func following(_ page: NumberPage) -> ListEndpoint? {
        var next = self
        next.number += 1
        return page.next == nil ? nil : next
    }
}

/// How the next page is named.
enum PageNaming: CaseIterable, Sendable {
    case link, field, cursor

    func pages(_ atom: Atom, of endpoint: ListEndpoint = ListEndpoint()) -> Pages<NumberPage> {
        switch self {
        case .link: atom.pages(of: endpoint) { (page: NumberPage) in page.next }
        case .field: atom.pages(of: endpoint, as: NumberPage.self)
        case .cursor: atom.pages(of: endpoint) { (page: NumberPage, last) in last.following(page) }
        }
    }
}

extension ScriptedExchange {
    /// Answers with the page that was asked for, and names the next one in the body and in a field.
    func answerPage(of count: Int) {
        let number = Int(request.path.split(separator: "/").last ?? "") ?? 1
        answerPage([number], next: number < count ? "/list/\(number + 1)" : nil)
    }

    func answerPage(_ items: [Int], next: String? = nil, status: Int = 200) {
        let body = try? JSONEncoder().encode(NumberPage(items: items, next: next))
        answer(
            data: body ?? Data(), status: status,
            headers: next.map { [("Link", "</first>; rel=\"first prev\", <\($0)>; rel=\"next\"")] } ?? [])
    }
}

extension Pages {
    /// All pages until the end, and the error there.
    func all() async -> ([Page], AtomError?) {
        var (pages, iterator) = ([Page](), makeAsyncIterator())
        do throws(AtomError) {
            while let page = try await iterator.next() { pages.append(page) }
            return (pages, nil)
        } catch {
            return (pages, error)
        }
    }
}

extension Pages.Iterator {
    typealias Step = (outcome: Result<Page?, AtomError>, iterator: Self)

    /// Asks for the next page, while the test answers.
    func asking() -> Task<Step, Never> {
        Task {
            var iterator = self
            do throws(AtomError) {
                return (.success(try await iterator.next()), iterator)
            } catch {
                return (.failure(error), iterator)
            }
        }
    }
}

extension Result where Failure == AtomError {
    var isSignedOut: Bool { if case .failure(.authentication(.signedOut)) = self { true } else { false } }
}
