import AtomNetworking
import Foundation
import Terminal

/// Signs requests with a user name and password, and follows redirects.
struct AccessSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        checklist.section("Basic authentication and redirects")
        await signWithPassword(&checklist)
        await followRedirects(&checklist)
    }

    private func signWithPassword(_ checklist: inout Checklist) async {
        let right = await member(password: NameAndSecret.exampleUser.secret)
        checklist.check(
            right.value?.name == NameAndSecret.exampleUser.name, "GET /me accepts the right password",
            detail: right.value.map { "\($0.name), \($0.tier), \($0.miles) miles" } ?? right.summary)

        let before = tour.server.counters.requests
        let wrong = await member(password: "byron")
        let asked = tour.server.counters.requests - before
        let problem = try? wrong.error?.decodeIfPresent(as: Problem.self)
        checklist.check(
            wrong.error?.isAuthorizationFailure == true && problem?.code == "wrong_credentials" && asked == 1,
            "a wrong password gets one 401, with its body", detail: problem?.message ?? wrong.summary)
    }

    private func member(password: String) async -> Result<Member, AtomError> {
        let credential = BasicCredential(password: password, username: NameAndSecret.exampleUser.name)
        return await outcome { () async throws(AtomError) in
            try await tour.atom(.basic(credential)).enqueue(AccountEndpoint.member(tour.airline))
                .resume(expecting: Member.self)
        }
    }

    private func followRedirects(_ checklist: inout Checklist) async {
        let followed = await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(DiagnosticEndpoint.redirect(tour.airline, times: 3)).resume()
        }
        checklist.check(
            followed.value?.url?.path == "/flights", "3 redirects lead to the flights",
            detail: followed.value?.description ?? followed.summary)

        let moved = await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(DiagnosticEndpoint.repeatedElsewhere(tour.airline, text: "once more"))
                .resume(expecting: Echo.self)
        }
        checklist.check(
            moved.value?.method == "POST" && moved.value?.body?.contains("once more") == true,
            "307 repeats method and body", detail: moved.error?.description)

        let kept = await outcome { () async throws(AtomError) in
            try await tour.atom { $0.redirectPolicy = .doNotFollow }
                .enqueue(DiagnosticEndpoint.redirect(tour.airline, times: 3)).resume()
        }
        var status: Int?
        if case .response(let response)? = kept.error { status = response.statusCode }
        checklist.check(status == 302, "a redirect that isn't followed is a response", detail: kept.summary)
    }
}
