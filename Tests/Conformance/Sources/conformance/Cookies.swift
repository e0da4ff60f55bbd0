import AtomNetworkingTesting
import Foundation

@testable import AtomNetworking

extension Conformance {
    /// Cookies, from a server and back.
    ///
    /// A real server sends each case's `Set-Cookie` lines; what matters is the `Cookie`
    /// field of the next request, to the case's `Location`. A proxy serves all hosts.
    static func cookies(_ folder: Folder) async throws -> [Case] {
        let place = "http-state/tests/data/parser"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file(place).path)
            .filter { $0.hasSuffix("-test") }.map { String($0.dropLast("-test".count)) }.sorted()
        var heads: [String: (lines: Data, next: String)] = [:]
        for name in names { heads[name] = head(try folder.bytes("\(place)/\(name)-test")) }
        let server = try LoopbackServer { [heads] request in
            guard request.target.contains("/cookie-parser?"), let name = request.queryItems.first?.name,
                let lines = heads[name]?.lines
            else { return .empty() }
            return .script([.write(Data("HTTP/1.1 204 No Content\r\n".utf8) + lines + Data("\r\n".utf8))])
        }
        defer { server.stop() }
        var configuration = ServiceConfiguration()
        configuration.transport = try CurlTransport(proxy: .server("http://\(server.host):\(server.port)"))
        // Not long after the suite was written: its cookies expire.
        configuration.timeSource = ManualClock(date: Date(timeIntervalSince1970: 1_300_000_000))
        let home = "http://home.example.org:8888"

        var cases: [Case] = []
        for name in names {
            let atom = Atom(serviceConfiguration: configuration)
            var problem: String?
            do {
                let response = try await atom.enqueue(Endpoint(url: "\(home)/cookie-parser?\(name)")).resume()
                _ = try await atom.enqueue(LinkedEndpoint(heads[name]?.next ?? "", in: response)).resume()
                // One file repeats the lines of the response.
                let expected = try folder.text("\(place)/\(name)-expected").split(whereSeparator: \.isNewline)
                    .first { $0.hasPrefix("Cookie: ") }.map { String($0.dropFirst("Cookie: ".count)) }
                problem = Case.difference(expected ?? "none", server.requests.last?["Cookie"] ?? "none")
            } catch {
                problem = "\(error)"
            }
            cases.append(Case(id: name, problem: problem))
        }
        return cases
    }

    /// The `Set-Cookie` lines of a case, and the URL or path of the next request.
    private static func head(_ text: Data) -> (lines: Data, next: String) {
        var (lines, next) = (Data(), "/cookie-parser-result")
        for line in text.split(separator: 0x0A).map({ $0.last == 0x0D ? $0.dropLast() : $0 }) {
            if line.starts(with: "Location: ".utf8) {
                next = String(decoding: line.dropFirst("Location: ".count), as: UTF8.self)
            } else {
                lines += line + Data("\r\n".utf8)
            }
        }
        return (lines, next)
    }

    /// Dates of cookies.
    static func dates(_ folder: Folder) throws -> [Case] {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        format.timeZone = TimeZone(secondsFromGMT: 0)
        return try ["examples", "bsd-examples"].flatMap { file in
            try folder.list("http-state/tests/data/dates/\(file).json").compactMap { item in
                guard let text = item["test"] as? String else { return nil }
                let date = HTTPDate.cookieDate(text).map(format.string(from:))
                return Case(file, text, problem: Case.difference(item["expected"] as? String, date))
            }
        }
    }
}
