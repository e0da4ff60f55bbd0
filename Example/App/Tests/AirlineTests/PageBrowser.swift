import Airline
import AtomNetworking
import AtomNetworkingSignIn
import Foundation
import Testing

/// A browser whose person fills in the page of the airline's server.
nonisolated struct PageBrowser: AuthorizationBrowser {
    /// The button that the person presses.
    var action = "sign-in"

    func authorize(_ page: @escaping Page) async throws -> URL {
        var configuration = ServiceConfiguration()
        // The last redirect leads to the app.
        configuration.redirectLimit = nil
        let atom = Atom(serviceConfiguration: configuration)
        let url = try await page(AirlineService.redirectURI).absoluteString
        let html = try await atom.enqueue(URLEndpoint(url)).resume(expecting: String.self)
        let id = try #require(html.firstMatch(of: /name="page" value="([^"]*)"/)).output.1
        var form = try URLEndpoint(
            String(url.prefix { $0 != "?" }), method: .post,
            body: .form(["page": String(id), "username": "ada", "password": "lovelace", "action": action]))
        form.acceptableStatusCodes = 303...303
        let response = try await atom.enqueue(form).resume()
        return try #require(URL(string: response.headerFields["Location"] ?? ""))
    }
}
