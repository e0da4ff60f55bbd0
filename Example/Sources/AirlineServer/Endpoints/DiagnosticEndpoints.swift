import Foundation

/// Responses that a client must handle: slow, invalid, redirected, missing.
struct DiagnosticEndpoints {
    /// How often each name has been answered.
    private let answers = Locked<[String: Int]>([:])

    func install(on router: inout Router) {
        let answers = answers
        router.on("*", "/echo/*") { call in .json(Echo(call)) }

        router.on("GET", "/slow") { call in
            let milliseconds = try call.query("milliseconds", default: 1000, in: 0...600_000)
            try await Task.sleep(nanoseconds: UInt64(milliseconds) * 1_000_000)
            return .json(["waitedMilliseconds": milliseconds])
        }

        router.on("*", "/redirect") { call in
            let status = try call.query("status", default: 302, in: 300...399)
            return .redirect(to: call.query("to") ?? "/flights", status: status)
        }
        router.on("*", "/redirect/:count") { call in
            guard let count = Int(call.parameter("count")), count > 0 else {
                return .redirect(to: "/flights", status: 302)
            }
            return .redirect(to: "/redirect/\(count - 1)", status: 302)
        }

        // Busy for the first calls with a name, and then no more.
        router.on("*", "/busy/:name") { call in
            let times = try call.query("times", default: 2, in: 0...1000)
            let status = try call.query("status", default: 503, in: 400...599)
            let retryAfter = try call.query("retryAfter", default: 0, in: 0...86_400)
            let number = answers.withLock { answers in
                // The names are a client's choice.
                if answers.count > 1_000 { answers = [:] }
                answers[call.parameter("name"), default: 0] += 1
                return answers[call.parameter("name"), default: 0]
            }
            guard number <= times else { return .json(["attempts": number]) }
            var reply = Problem(status, "busy", "This is failure \(number) of \(times).").reply
            if retryAfter > 0 { reply.headers.append(("Retry-After", String(retryAfter))) }
            return reply
        }

        router.on("*", "/errors/html") { _ in
            .text("<html><h1>Bad gateway</h1></html>", status: 502, contentType: "text/html; charset=utf-8")
        }
        router.on("*", "/errors/empty") { _ in Reply(status: 500) }
        router.on("*", "/errors/malformed") { _ in
            Reply(status: 200, headers: [("Content-Type", "application/json")], body: Data("{\"number\": ".utf8))
        }
        router.on("*", "/errors/hang-up") { _ in Reply(status: 500, delivery: .hangUp, note: "hung up") }
        router.on("*", "/errors/:status") { call in
            guard let status = Int(call.parameter("status")), (200...599).contains(status) else {
                throw Problem(422, "invalid_status", "The status must be from 200 to 599.")
            }
            return Problem(status, "as_requested", "This is the requested status \(status).").reply
        }
    }

    /// The server's view of a request.
    private struct Echo: Encodable {
        let method: String
        let target: String
        let headers: [Item]
        let query: [Item]
        let body: String?
        let bodyBase64: String?
        let bodyLength: Int

        struct Item: Encodable {
            let name: String
            let value: String
        }

        init(_ call: Call) {
            method = call.method
            target = call.target
            headers = call.headers.map { Item(name: $0.name, value: $0.value) }.sorted { $0.name < $1.name }
            query = call.query.map { Item(name: $0.name, value: $0.value) }
            body = String(data: call.body, encoding: .utf8)
            bodyBase64 = body == nil ? call.body.base64EncodedString() : nil
            bodyLength = call.body.count
        }
    }
}
