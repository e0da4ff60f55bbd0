import AtomNetworkingTesting
import Foundation

@testable import AtomNetworking

extension Conformance {
    /// Streams of events, by the program of the contract tests.
    ///
    /// It asks a service for streams, serves them, and is told what arrives.
    static func events(_ folder: Folder) async throws -> [Case] {
        let program = folder.file("sse-contract-tests/sse-contract-tests")
        guard FileManager.default.isExecutableFile(atPath: program.path) else { throw Missing(path: program.path) }
        let streams = EventStreams()
        let server = try LoopbackServer { streams.answer($0) }
        defer { server.stop() }
        // A port that is free.
        let free = try LoopbackServer { _ in .empty() }
        free.stop()

        let process = Process()
        process.executableURL = program
        process.arguments = [
            "-url", "http://\(server.host):\(server.port)", "-host", "127.0.0.1", "-port", String(free.port),
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let cases = cases(in: output)
        let status = process.terminationStatus
        guard status != 0, cases.allSatisfy({ $0.problem == nil }) else { return cases }
        return cases + [Case(id: program.lastPathComponent, problem: "it ended with status \(status)")]
    }

    /// The tests that have no tests of their own, without those that ask for what the service
    /// doesn't offer.
    private static func cases(in output: String) -> [Case] {
        var (ids, problems, skipped) = ([] as [String], [:] as [String: String], [] as Set<String>)
        for line in output.split(separator: "\n") {
            if line.hasPrefix("["), line.hasSuffix("]") {
                ids.append(String(line.dropFirst().dropLast()))
            } else if line.hasPrefix("  FAILED: ") {
                let id = String(line.dropFirst("  FAILED: ".count))
                problems[id, default: ""] += " failed"
            } else if let found = line.firstMatch(of: #/^  SKIPPED: (.*?)( \(.*\))?$/#) {
                skipped.insert(String(found.1))
            } else if line.hasPrefix("  "), let last = ids.last {
                problems[last, default: ""] += line.trimmingCharacters(in: .whitespaces) + " "
            }
        }
        return ids.filter { id in !skipped.contains(id) && !ids.contains { $0.hasPrefix(id + "/") } }
            .map { Case(id: $0, problem: problems[$0]) }
    }
}

/// The service that the contract tests ask for: it opens streams with the SDK, and reports
/// what they bring.
private final class EventStreams: Sendable {
    private struct Wish: Decodable {
        let streamUrl: String
        let callbackUrl: String
        let initialDelayMs: Int?
        let readTimeoutMs: Int?
        let lastEventId: String?
        let headers: [String: String]?
        let method: String?
        let body: String?
    }

    private struct Message: Encodable {
        struct Event: Encodable {
            let type: String
            let data: String
            let id: String
        }

        let kind: String
        var event: Event?
        var error: String?
    }

    private let tasks = Guarded<[Task<Void, Never>]>([])

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        switch request.method {
        case "GET":
            return .json(
                #"{"capabilities": ["bom", "headers", "last-event-id", "post", "read-timeout", "report", "#
                    + #""server-directed-shutdown-request"]}"#)
        case "POST":
            guard let wish = try? JSONDecoder().decode(Wish.self, from: request.body) else { return .empty(400) }
            let number = tasks.withLock { tasks in
                tasks.append(Task { await Self.run(wish) })
                return tasks.count
            }
            return .empty(201, headers: [("Location", "/\(number)")])
        default:
            guard let number = Int(request.path.dropFirst()) else { return .empty(404) }
            tasks.withLock { $0[number - 1].cancel() }
            return .empty()
        }
    }

    private static func run(_ wish: Wish) async {
        let atom = Atom()
        var number = 0
        func tell(_ message: Message) async {
            number += 1
            guard var endpoint = try? Endpoint(url: "\(wish.callbackUrl)/\(number)") else { return }
            endpoint.method = .post
            endpoint.body = .json(message)
            _ = try? await atom.enqueue(endpoint).resume()
        }
        do {
            var endpoint = try Endpoint(url: wish.streamUrl)
            endpoint.headerItems = wish.headers?.map { HeaderItem(name: $0.key, value: $0.value) }
            endpoint.acceptableStatusCodes = 200...299
            if let method = wish.method { endpoint.method = .token(method) }
            if let body = wish.body {
                endpoint.body = .data(Data(body.utf8), contentType: wish.headers?["content-type"] ?? "text/plain")
            }
            if let milliseconds = wish.readTimeoutMs {
                endpoint.timeout = ServiceTimeout(request: Double(milliseconds) / 1_000, resource: 30)
            }
            let stream = try await atom.enqueue(endpoint).serverSentEvents(
                reconnection: .automatic(after: .milliseconds(wish.initialDelayMs ?? 3_000), maximumAttempts: 3),
                lastEventID: wish.lastEventId ?? "")
            for try await event in stream {
                await tell(Message(kind: "event", event: .init(type: event.type, data: event.data, id: event.id)))
            }
        } catch {
            await tell(Message(kind: "error", error: "\(error)"))
        }
    }
}
