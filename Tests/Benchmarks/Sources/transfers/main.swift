// Sends and receives large bodies, and prints what that took.
//
//     swift run -c release --package-path Tests/Benchmarks transfers COMMAND …
//
//     serve [PORT]             a server on loopback; ends with its standard input
//     download URL FILE        a response to a file
//     upload FILE URL          a file
//     multipart FILE URL       a form with the file
//     send BYTES URL           a stream of the app
//     bytes URL                a response part by part
//     lines URL                the same line by line
//     events URL               the same as server-sent events
//     stall SECONDS URL        a response whose reader stops after its first part
//
// With TRANSPORT=urlsession in the environment, URLSession sends the requests.
// The server answers /bytes/N, /lines/N and /events/N with about N bytes, and
// takes any body.

import AtomNetworking
import AtomNetworkingTesting
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

struct Transfer: Requestable {
    let url: URL
    var method = HTTPMethod.get
    var body: RequestBody?

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .http, host: url.host ?? "127.0.0.1", port: url.port)
    }
    func path() throws(AtomError) -> URLPath { try URLPath(url.path) }
    var timeout: ServiceTimeout? { ServiceTimeout(request: 120, resource: 600) }
}

/// Repeats a text up to about so many bytes.
func repeated(_ text: String, _ count: Int64) -> [LoopbackServer.Response.Step] {
    let block = Data(String(repeating: text, count: max(1, (256 << 10) / text.utf8.count)).utf8)
    return (0..<max(1, count / Int64(block.count))).map { _ in .write(block) }
}

func serve(port: Int) throws {
    let server = try LoopbackServer(port: port, keepsBodies: false, maximumBodyLength: .max) { request in
        let parts = request.path.split(separator: "/")
        guard parts.count == 2, let count = Int64(parts[1]) else { return .json("{}") }
        switch parts[0] {
        case "bytes": return .generated(length: count)
        case "lines":
            let line = "2026-11-22T08:00:00Z AS \(String(repeating: "x", count: 56))\n"
            return .streamed(repeated(line, count), headers: [("Content-Type", "text/plain")])
        case "events":
            let event = "id: 1\nevent: gate\ndata: \(String(repeating: "y", count: 130))\n\n"
            return .streamed(repeated(event, count), headers: [("Content-Type", "text/event-stream")])
        default: return .json("{}")
        }
    }
    print(server.port)
    fflush(nil)
    while readLine() != nil {}
    server.stop()
}

/// Seconds of the processor that this process has used.
func processorTime() -> Double {
    var usage = rusage()
    // RUSAGE_SELF, whose type differs between systems.
    getrusage(0, &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The most memory that this process has used, in megabytes.
func peak() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
    return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1_024
}

/// The same part again and again.
struct Parts: AsyncSequence, AsyncIteratorProtocol {
    let part: Data
    var left: Int64

    func makeAsyncIterator() -> Parts { self }

    mutating func next() async -> Data? {
        guard left > 0 else { return nil }
        let next = part.prefix(Int(Swift.min(left, Int64(part.count))))
        left -= Int64(next.count)
        return next
    }
}

struct UsageError: Error {}

func run(_ arguments: [String]) async throws -> Int64 {
    var configuration = ServiceConfiguration(dispatchQueue: .global())
    if ProcessInfo.processInfo.environment["TRANSPORT"] == "urlsession" {
        configuration.transport = URLSessionTransport()
    }
    let atom = Atom(serviceConfiguration: configuration)
    func url(_ place: Int) throws -> URL {
        guard place < arguments.count, let url = URL(string: arguments[place]) else { throw UsageError() }
        return url
    }
    guard arguments.count > 1 else { throw UsageError() }
    switch arguments[0] {
    case "download":
        let file = URL(fileURLWithPath: arguments[2])
        try await atom.enqueue(Transfer(url: try url(1))).download(to: file)
        return Int64((try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber)?.intValue ?? 0)
    case "upload":
        let body = RequestBody.file(URL(fileURLWithPath: arguments[1]))
        try await atom.enqueue(Transfer(url: try url(2), method: .post, body: body)).resume()
        return 0
    case "multipart":
        var form = MultipartForm()
        form.append("value", name: "field")
        form.append(fileAt: URL(fileURLWithPath: arguments[1]), name: "file")
        try await atom.enqueue(Transfer(url: try url(2), method: .post, body: .multipart(form))).resume()
        return 0
    case "send":
        let size = Int64(arguments[1]) ?? 0
        let part = Data(repeating: 7, count: 256 << 10)
        let body = RequestBody.stream(length: size) { Parts(part: part, left: size) }
        try await atom.enqueue(Transfer(url: try url(2), method: .post, body: body)).resume()
        return size
    case "bytes":
        var count: Int64 = 0
        for try await part in try await atom.enqueue(Transfer(url: try url(1))).bytes() { count += Int64(part.count) }
        return count
    case "lines":
        var count: Int64 = 0
        for try await line in try await atom.enqueue(Transfer(url: try url(1))).lines() {
            count += Int64(line.utf8.count) + 1
        }
        return count
    case "events":
        var count: Int64 = 0
        for try await event in try await atom.enqueue(Transfer(url: try url(1))).serverSentEvents() {
            count += Int64(event.data.utf8.count)
        }
        return count
    case "stall":
        var count: Int64 = 0
        for try await part in try await atom.enqueue(Transfer(url: try url(2))).bytes() {
            if count == 0 { try await Task.sleep(for: .seconds(Int(arguments[1]) ?? 30)) }
            count += Int64(part.count)
        }
        return count
    default: throw UsageError()
    }
}

/// Runs a command and prints what it took.
func measure(_ arguments: [String]) async throws {
    let start = ContinuousClock.now
    let count = try await run(arguments)
    let seconds =
        Double((ContinuousClock.now - start).components.seconds)
        + Double((ContinuousClock.now - start).components.attoseconds) / 1e18
    print(
        "\(arguments[0]): \(count) bytes, \(String(format: "%.2f", seconds)) s, "
            + "\(String(format: "%.2f", processorTime())) s of CPU, peak \(peak()) MB")
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "serve" {
    try serve(port: arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0)
} else {
    // Valgrind doesn't support an async main.
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await measure(arguments)
        } catch {
            FileHandle.standardError.write(Data("failed: \(error)\n".utf8))
            exit(1)
        }
        done.signal()
    }
    done.wait()
}
