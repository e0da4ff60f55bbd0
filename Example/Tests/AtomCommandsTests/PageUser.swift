import AtomNetworking
import Foundation
import Testing

/// Plays the browser and its user: fills the server's page in, and goes where the server sends it.
struct PageUser: Sendable {
    let user: String
    let password: String
    var action = "sign-in"

    static let ada = PageUser(user: "ada", password: "lovelace")
    static let grace = PageUser(user: "grace", password: "hopper")

    /// Opens the page, and returns whether the sign-in has ended.
    func open(_ page: URL) async -> Bool {
        do {
            let html = try await Atom().enqueue(URLEndpoint(page.absoluteString)).resume()
            let text = String(decoding: html.data, as: UTF8.self)
            let start = text.range(of: "name=\"page\" value=\"")
            let id = start.map { String(text[$0.upperBound...].prefix { $0 != "\"" }) } ?? ""
            let form: [QueryItem] = ["page": id, "username": user, "password": password, "action": action]
            // The redirect leads to the tool.
            try await send(form, to: try #require(URL(string: "/oauth/authorize", relativeTo: page)))
            return true
        } catch {
            // The tool waits no longer than for the callback.
            if !Task.isCancelled { Issue.record(error) }
            return Task.isCancelled
        }
    }

    /// Enters the code that a command shows.
    func enterCode(of notes: RecordingTerminal, at server: String) async throws {
        var code: Substring?
        while code == nil {
            try await Task.sleep(for: .milliseconds(10))
            code = notes.text.firstMatch(of: /[B-Z]{4}-[B-Z]{4}/)?.output
        }
        let form: [QueryItem] = [
            "user_code": String(code ?? ""), "username": user, "password": password, "action": action,
        ]
        try await send(form, to: try #require(URL(string: server + "/device")))
    }

    private func send(_ form: [QueryItem], to url: URL) async throws {
        let request = try URLEndpoint(url.absoluteString, method: .token("POST"), body: .form(form))
        _ = try await Atom().enqueue(request).resume()
    }
}
