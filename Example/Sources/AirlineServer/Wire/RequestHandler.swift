import FlyingFox
import Foundation

/// Connects FlyingFox and the endpoints, which don't depend on it: converts its
/// requests to ``Call``s and ``Reply``s to its responses, and logs every
/// exchange.
struct RequestHandler: HTTPHandler {
    let router: Router
    let state: Locked<ServerState>
    let clock: ServerClock
    let bodyLimit: Int

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let startedAt = clock.now()
        let arrival = state.withLock { $0.requestArrived() }
        let reply: Reply
        do {
            reply = try await self.reply(to: request)
        } catch {
            // The server is stopping, or the connection broke while the body
            // was read.
            state.withLock { $0.requestEnded() }
            return HTTPResponse(webSocket: HangUp())
        }
        let endedAt = clock.now()
        let dateOffset = state.withLock { state in
            state.requestEnded()
            state.log.append(.request, at: startedAt, until: endedAt, token: reply.token, detail: reply.note) { event in
                event.arrival = arrival
                event.method = request.method.rawValue
                event.path = request.path
                event.status =
                    switch reply.delivery {
                    case .answer, .endless, .stream: reply.status
                    case .hangUp, .silence: nil
                    }
                event.requestID = request.headers[HTTPHeader("X-Request-ID")]
            }
            return state.policy.dateOffset
        }
        switch reply.delivery {
        case .answer, .endless, .stream:
            return response(reply, to: request, dateOffset: dateOffset)
        case .silence:
            // This ends early when the server stops.
            try? await Task.sleep(nanoseconds: 120_000_000_000)
            return HTTPResponse(webSocket: HangUp())
        case .hangUp:
            return HTTPResponse(webSocket: HangUp())
        }
    }

    private func reply(to request: HTTPRequest) async throws -> Reply {
        let method = request.method.rawValue
        switch router.match(method: method, path: request.path) {
        case .found(let endpoint, let bodyReading, let parameters):
            do {
                var call = try await call(for: request, bodyReading)
                call.parameters = parameters
                return try await endpoint(call)
            } catch let problem as Problem {
                return problem.reply
            }
        case .methodNotAllowed(let allowed):
            let allow = allowed.joined(separator: ", ")
            return Problem(
                405,
                "method_not_allowed",
                "\(method) is not allowed here; allowed: \(allow).",
                headers: [("Allow", allow)]
            ).reply
        case .notFound:
            return Problem(404, "not_found", "There is no endpoint at \(request.path).").reply
        }
    }

    private func call(for request: HTTPRequest, _ bodyReading: Router.BodyReading) async throws -> Call {
        let isForm = request.headers[.contentType]?.lowercased().hasPrefix(MultipartBody.mediaType) ?? false
        var digest = bodyReading == .digested && !isForm ? BodyDigest() : nil
        let bytesPerSecond = state.withLock(\.transferFaults.bytesPerSecond)
        var body = Data()
        if request.bodySequence.count != 0 {
            for try await chunk in request.bodySequence {
                try await Pace.wait(for: chunk.count, at: bytesPerSecond)
                guard digest == nil else {
                    digest?.add(chunk)
                    continue
                }
                // The rest is read too, so that the client can read the
                // response.
                guard body.count <= bodyLimit else { continue }
                body.append(chunk)
            }
        }
        guard body.count <= bodyLimit else {
            throw Problem(413, "payload_too_large", "A body may have at most \(bodyLimit) bytes.")
        }
        return Call(
            method: request.method.rawValue,
            path: request.path,
            target: request.target.rawValue,
            headers: request.headers.map { ($0.key.rawValue, $0.value) },
            query: request.query.map { ($0.name, $0.value) },
            body: body,
            digest: digest
        )
    }

    private func response(_ reply: Reply, to request: HTTPRequest, dateOffset: Double) -> HTTPResponse {
        var headers = HTTPHeaders()
        for (name, value) in reply.headers {
            headers.addValue(value, for: HTTPHeader(name))
        }
        // Limited to the years that the header can represent, for any offset.
        let seconds = min(max(Date().timeIntervalSince1970 + dateOffset, -62_135_596_800), 253_402_300_799)
        headers.addValue(CalendarTime(unixSeconds: Int(seconds.rounded(.down))).httpDate, for: .date)
        headers.addValue("atom-airline", for: HTTPHeader("Server"))
        let body: HTTPBodySequence
        if request.method == .HEAD {
            if headers[.contentLength] == nil { headers[.contentLength] = String(reply.body.count) }
            body = HTTPBodySequence()
        } else if case .endless = reply.delivery {
            body = HTTPBodySequence(from: EndlessBody(start: reply.body))
        } else if case .stream(let length?, let nextPart) = reply.delivery {
            body = HTTPBodySequence(from: StreamedBody(nextPart: nextPart), count: length)
        } else if case .stream(nil, let nextPart) = reply.delivery {
            body = HTTPBodySequence(from: StreamedBody(nextPart: nextPart))
        } else {
            body = HTTPBodySequence(data: reply.body)
        }
        return HTTPResponse(
            statusCode: HTTPStatusCode(reply.status, phrase: ReasonPhrase.phrase(for: reply.status)),
            headers: headers,
            body: body
        )
    }
}

/// FlyingFox asks a handler for its frames before it writes the head; without
/// frames it closes the connection without a byte.
private struct HangUp: WSHandler {
    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        throw CancellationError()
    }
}

private enum ReasonPhrase {
    private static let phrases: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 413: "Content Too Large",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 418: "I'm a teapot", 422: "Unprocessable Content",
        429: "Too Many Requests",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout",
    ]

    static func phrase(for status: Int) -> String {
        phrases[status] ?? "Status \(status)"
    }
}
