import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// The servers of the chaos: an API with its authorization server, and another origin.
///
/// What they do to a request is decided by the seed, the request's name and how often they
/// got it.
final class ChaosServer: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    let port: Int
    let otherPort: Int
    private let servers: [LoopbackServer]
    private let desk: Desk

    init(_ books: Books, isCalm: Bool, behind front: Front?) throws {
        let desk = Desk(books: books, isCalm: isCalm || front?.manner == .gentle, front: front)
        self.desk = desk
        let other = try LoopbackServer(keepsBodies: false) { desk.respondElsewhere(to: $0) }
        let server = try LoopbackServer { desk.respond(to: $0, otherPort: other.port) }
        servers = [server, other]
        (port, otherPort) = (server.port, other.port)
    }

    func closeConnections() { for server in servers { server.closeConnections() } }

    func stop() { for server in servers { server.stop() } }

    /// Requests that weren't HTTP.
    var malformedReasons: [String] { servers.flatMap(\.malformedReasons) }
}

/// What answers the requests.
private struct Desk: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Response = LoopbackServer.Response

    let books: Books
    let isCalm: Bool
    let front: Front?

    func respond(to request: Request, otherPort: Int) -> Response {
        check(request)
        return switch request.path {
        case "/sign-in": signIn(request)
        case "/token": refresh(request)
        case "/revoke": revoke(request)
        default: serve(request, otherPort: otherPort)
        }
    }

    /// Whatever comes through the front came over HTTP/2.
    private func check(_ request: Request) {
        guard front != nil, request["Via"]?.hasPrefix("2 ") != true else { return }
        books.violated("\(request.path) didn't come over HTTP/2: \(request["Via"] ?? "no Via")")
    }

    // MARK: - The authorization server

    private func unsigned(_ request: Request) -> Bool {
        let isUnsigned = request["Authorization"] == nil && request["Cookie"] == nil
        if !isUnsigned { books.violated("\(request.path) got a credential that it must not get") }
        return isUnsigned
    }

    private func signIn(_ request: Request) -> Response {
        guard unsigned(request), let owner = request.form("username"), let store = request.form("store")
        else { return .empty(400) }
        return .json(books.office.signIn(owner, store: store, isCalm: isCalm))
    }

    private func refresh(_ request: Request) -> Response {
        guard unsigned(request), let token = request.form("refresh_token"),
            let process = request.form("process").flatMap({ Int($0) })
        else { return .empty(400) }
        switch books.office.refresh(token, by: process, isCalm: isCalm) {
        case .refused: return .json(#"{"error":"invalid_grant"}"#, status: 400)
        case .unavailable:
            var chance = Chance(books.seed, UInt64(bitPattern: Int64(request.receivedAt)))
            let response = Response.empty(503)
            return chance.happens(0.5) ? response : response.adding("Retry-After", "1")
        case .granted(let answer, isLost: false): return .json(answer)
        case .granted(let answer, isLost: true):
            var chance = Chance(books.seed, UInt64(bitPattern: Int64(request.receivedAt)))
            switch chance.number(0...3) {
            case 0: return .closeImmediately
            case 1: return .reset
            case 2: return .json(answer).cut(at: .bodyByte(Int64(chance.number(0...30))))
            default: return .empty(502)
            }
        }
    }

    private func revoke(_ request: Request) -> Response {
        guard unsigned(request) else { return .empty(400) }
        request.form("token").map(books.office.revoke)
        return .empty(200)
    }

    // MARK: - The API

    private func serve(_ request: Request, otherPort: Int) -> Response {
        guard let name = request["X-Request"].flatMap({ RequestName($0) }) else {
            books.violated("\(request.method) \(request.path) came without its name")
            return .empty(400)
        }
        let token = request["Authorization"].flatMap { books.office.access($0) }
        let cookie = request["Cookie"].flatMap { field in
            field.split(separator: ";").compactMap {
                Int($0.trimmingCharacters(in: .whitespaces).dropFirst("who=".count))
            }.first
        }
        let isOpen = request.path == "/open"
        if isOpen != (request["Authorization"] == nil) {
            books.violated(
                "\(name) for \(request.path) came \(isOpen ? "with a token" : "without one"), process \(name.process)")
        }
        let before = books.received(name, Books.Reception(method: request.method, token: token, cookie: cookie))
        if request.method != "GET", request.text != name.description {
            books.violated("\(name) came with the body of another request: \(request.text.prefix(100))")
        }
        var chance = Chance(books.seed, name.chance, UInt64(before))
        var plan = plan(request, name, token, otherPort: otherPort, &chance)
        books.answers(name, before, with: plan.status, isWhole: plan.isWhole)
        if let family = token?.family, (200...299).contains(plan.status) {
            plan.response.headers.append((name: "Set-Cookie", value: "who=\(family); Path=/"))
        }
        return plan.response
    }

    private struct Plan {
        var response: Response
        /// What the books say of it.
        var status: Int
        var isWhole = true

        init(_ response: Response) { (self.response, status) = (response, response.statusCode) }
        init(nothing response: Response) { (self.response, status, isWhole) = (response, 0, false) }
    }

    private func plan(
        _ request: Request, _ name: RequestName, _ token: TokenOffice.Name?, otherPort: Int, _ chance: inout Chance
    ) -> Plan {
        if !isCalm, chance.happens(0.04) { usleep(useconds_t(chance.number(1...150) * 1_000)) }
        if request.path == "/slow" { usleep(150_000) }
        if request.path != "/open" {
            guard let token, books.office.isValid(token), !chance.happens(isCalm ? 0.000_5 : 0.005) else {
                books.count("401s")
                return Plan(.challenge("Bearer", body: Data("no".utf8)))
            }
        }
        if !isCalm {
            switch chance.number(0...999) {
            case 0..<25: return Plan(.empty(503).adding("Retry-After", "\(chance.number(0...1))"))
            case 25..<35: return Plan(.empty(500))
            case 35..<42: return Plan(.empty(429).adding("Retry-After", "1"))
            case 42..<62:
                books.count("responses that the server lost")
                return Plan(nothing: .closeImmediately)
            case 62..<72:
                books.count("connections that the server reset")
                return Plan(nothing: .reset)
            case 72..<74:
                books.count("responses that never came")
                return Plan(nothing: .hang)
            default: break
            }
        }
        switch request.path {
        case "/hop", "/post-hop":
            let target = request.path == "/hop" ? "/get" : "/post"
            return Plan(.redirect(307, location: target))
        case "/leave":
            let origin = front.map { "https://127.0.0.1:\($0.ports[1])" } ?? "http://127.0.0.1:\(otherPort)"
            return Plan(.redirect(302, location: "\(origin)/elsewhere?request=\(name)"))
        case "/stream": return stream(request, name, token, &chance)
        case "/file": return file(request, token, &chance)
        default: return answer(request, name, token, &chance)
        }
    }

    private func owner(_ token: TokenOffice.Name?) -> String {
        token.flatMap { books.office.owner(of: $0.family) } ?? "nobody"
    }

    /// Over HTTP/2, libcurl 7.88 takes a body without a length that breaks off for a whole one.
    private var takesHalfForWhole: Bool { front != nil && CurlTransport.libraryVersion?.hasPrefix("7.") == true }

    private func answer(
        _ request: Request, _ name: RequestName, _ token: TokenOffice.Name?, _ chance: inout Chance
    ) -> Plan {
        let padding = String(
            repeating: "x", count: chance.happens(0.1) ? chance.number(0...20_000) : chance.number(0...200))
        let text =
            #"{"request":"\#(name)","family":\#(token?.family ?? -1),"owner":"\#(owner(token))","padding":"\#(padding)"}"#
        let body = Data(text.utf8)
        let json = [("Content-Type", "application/json")]
        let form = chance.number(0...9)
        let isChunked = (2..<5).contains(form)
        var plan: Plan
        // A body that is cut behind its end is whole.
        var last = body.count - 1
        if form < 2, request["Accept-Encoding"]?.contains("gzip") == true {
            let packed = Gzip.data(body)
            last = packed.count - 1
            plan = Plan(.status(200, headers: json + [("Content-Encoding", "gzip")], body: packed))
        } else if form < 5 {
            let half = body.count / 2
            plan = Plan(.chunked([body.prefix(half), body.dropFirst(half)].map { Data($0) }, headers: json))
        } else {
            plan = Plan(.status(200, headers: json, body: body))
        }
        guard !isCalm else { return plan }
        switch chance.number(0...999) {
        case 0..<20 where !(isChunked && takesHalfForWhole):
            books.count("responses that were cut")
            plan.response = plan.response.cut(at: .bodyByte(Int64(chance.number(0...min(60, last)))))
            plan.isWhole = false
        case 20..<30: plan.response = plan.response.dripping(bytes: 100, everyMilliseconds: 2)
        case 30..<60: plan.response = plan.response.closing()
        case 60..<90: plan.response = plan.response.closingSilently()
        default: break
        }
        return plan
    }

    private func stream(
        _ request: Request, _ name: RequestName, _ token: TokenOffice.Name?, _ chance: inout Chance
    ) -> Plan {
        if request["Last-Event-ID"] != nil, chance.happens(0.3) { return Plan(.empty(204)) }
        let first = (request["Last-Event-ID"].flatMap { Int($0) } ?? 0) + 1
        var steps: [Response.Step] = []
        for number in first..<(first + chance.number(1...8)) {
            steps.append(.write(text: "id: \(number)\ndata: \(name) \(token?.family ?? -1) \(number)\n\n"))
            if chance.happens(0.7) { steps.append(.delay(milliseconds: chance.number(1...(isCalm ? 3 : 150)))) }
        }
        if chance.happens(0.2) { steps.append(.reset) }
        return Plan(.streamed(steps, headers: [("Content-Type", "text/event-stream")]))
    }

    private func file(_ request: Request, _ token: TokenOffice.Name?, _ chance: inout Chance) -> Plan {
        let file = request.queryItems.first { $0.name == "name" }?.value ?? ""
        let data = PersonalFile.data(file, of: owner(token))
        let tag = "\"\(file)\""
        var headers = [("ETag", tag), ("Accept-Ranges", "bytes"), ("Content-Type", "application/octet-stream")]
        var body = data
        var status = 200
        let range = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
        if let range, request["If-Range"] == tag, chance.happens(0.9) {
            books.count("downloads that went on")
            guard range < data.count else { return Plan(.empty(416).adding("Content-Range", "bytes */\(data.count)")) }
            status = 206
            body = data.dropFirst(range)
            headers.append(("Content-Range", "bytes \(range)-\(data.count - 1)/\(data.count)"))
        }
        var plan = Plan(.status(status, headers: headers, body: Data(body)))
        guard !isCalm || chance.happens(0.1) else { return plan }
        switch chance.number(0...99) {
        case 0..<25:
            books.count("downloads that were cut")
            plan.response = plan.response.cut(at: .bodyByte(Int64(chance.number(0...(body.count - 1)))))
            plan.isWhole = false
        case 25..<35:
            plan.response = plan.response.reset(at: .bodyByte(Int64(chance.number(0...(body.count - 1)))))
            plan.isWhole = false
        case 35..<45: plan.response = plan.response.dripping(bytes: 16_384, everyMilliseconds: 10)
        default: break
        }
        return plan
    }

    // MARK: - The other origin

    func respondElsewhere(to request: Request) -> Response {
        check(request)
        guard let name = request.queryItems.first(where: { $0.name == "request" }).flatMap({ RequestName($0.value) })
        else { return .empty(400) }
        for field in ["Authorization", "Cookie", "X-Request"] where request[field] != nil {
            books.violated("\(name) took its \(field) to another origin")
        }
        let before = books.received(name, Books.Reception(method: request.method, token: nil, cookie: nil))
        books.answers(name, before, with: 200, isWhole: true)
        return .json(#"{"request":"\#(name)","family":-1,"owner":"nobody","padding":""}"#)
    }
}
