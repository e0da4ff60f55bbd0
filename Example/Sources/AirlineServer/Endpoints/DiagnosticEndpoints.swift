import AtomNetworkingTesting

/// Responses that a client must handle: slow, redirected, busy, wrong.
struct DiagnosticEndpoints {
    /// How often each name has been answered.
    private let answers = Locked<[String: Int]>([:])

    var routes: [String: Endpoint] {
        [
            "/slow": { request throws(Problem) in
                let milliseconds = try request.query("milliseconds", default: 1000, in: 0...600_000)
                return .encoding(["waitedMilliseconds": milliseconds]).delayed(milliseconds: milliseconds)
            },
            "/redirect": { _ in .redirect(302, location: "/flights") },
            "/redirect/{count}": { request in
                let count = request.parameters["count"].flatMap { Int($0) } ?? 0
                return .redirect(302, location: count > 1 ? "/redirect/\(count - 1)" : "/flights")
            },
            // Busy for the first calls with a name, and then no more.
            "/busy/{name}": { request throws(Problem) in
                let times = try request.query("times", default: 2, in: 0...1000)
                let name = request.parameters["name"] ?? ""
                let number = answers.withLock { answers in
                    answers[name, default: 0] += 1
                    return answers[name, default: 0]
                }
                guard number <= times else { return .encoding(["attempts": number]) }
                throw Problem(503, "busy", "This is failure \(number) of \(times).")
            },
            "/errors/malformed": { _ in .json("{\"number\": ") },
            "/errors/hang-up": { _ in .closeImmediately },
            "/errors/{status}": { request throws(Problem) in
                guard let status = request.parameters["status"].flatMap({ Int($0) }), (200...599).contains(status)
                else { throw Problem(422, "invalid_status", "The status must be from 200 to 599.") }
                throw Problem(status, "as_requested", "This is the requested status \(status).")
            },
        ]
    }
}
