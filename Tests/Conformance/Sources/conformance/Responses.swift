import AtomNetworking
import AtomNetworkingTesting
import Foundation

extension Conformance {
    /// What came of a response: its status, fields and body; `nil` for a failure.
    private struct Received: Equatable, CustomStringConvertible {
        var status = 0
        var fields: [String] = []
        var body = Data()

        var description: String { "\(status) \(fields) \(String(decoding: body, as: UTF8.self).debugDescription)" }
    }

    /// Sends bytes as the response to a request over the real transport, and closes the connection.
    private static func received(_ bytes: Data) async throws -> (result: Received?, error: String) {
        let server = try LoopbackServer { _ in .raw(bytes) }
        defer { server.stop() }
        var configuration = ServiceConfiguration()
        configuration.redirectLimit = nil
        do {
            let response = try await Atom(serviceConfiguration: configuration).enqueue(
                Endpoint(url: server.url().absoluteString)
            ).resume()
            let fields = response.headerFields.map { "\($0.name): \($0.value)" }
            return (Received(status: response.statusCode ?? 0, fields: fields, body: response.data), "")
        } catch {
            return (nil, "\(error)")
        }
    }

    private static func judged(_ bytes: Data, _ expected: Received?) async throws -> String? {
        let (result, error) = try await received(bytes)
        guard result != expected else { return nil }
        return "expected \(expected?.description ?? "a failure"), got \(result?.description ?? error)"
    }

    /// Responses that llhttp reads in its strict mode.
    static func responses(_ folder: Folder) async throws -> [Case] {
        let place = "llhttp/test/response"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.file(place).path).sorted()
        var cases: [Case] = []
        for file in files where file.hasSuffix(".md") {
            for (input, log) in examples(in: try folder.text("\(place)/\(file)")) {
                cases.append(
                    Case(String(file.dropLast(3)), input, problem: try await judged(bytes(of: input), expectation(log)))
                )
            }
        }
        return cases
    }

    /// The inputs and logs of a file, without those for lenient modes, and without those for a
    /// response to HEAD.
    private static func examples(in text: String) -> [(input: String, log: String)] {
        var examples: [(String, String)] = []
        var (isWanted, block, input) = (false, nil as String?, "")
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let kind = block {
                guard line == "```" else {
                    lines.append(line)
                    continue
                }
                block = nil
                if kind == "http" { input = lines.joined(separator: "\n") }
                if kind == "log", isWanted, !examples.contains(where: { $0.0 == input }) {
                    examples.append((input, lines.joined(separator: "\n")))
                }
            } else if line.hasPrefix("```") {
                (block, lines) = (String(line.dropFirst(3)), [])
            } else if line.hasPrefix("<!-- meta=") {
                let isStrict = line.contains(#""response""#) || line.contains(#""response-finish""#)
                isWanted = isStrict && !line.contains("skipBody")
            }
        }
        return examples
    }

    /// Lines end with CR LF; a backslash at the end of a line joins it with the next one.
    private static func bytes(of input: String) -> Data {
        var bytes: [UInt8] = []
        var rest = Array(input.utf8)[...]
        func takes(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }
        while let byte = rest.first {
            if takes("\\\n") {
            } else if takes("\n") {
                bytes += [0x0D, 0x0A]
            } else if takes("\\r") {
                bytes.append(0x0D)
            } else if takes("\\n") {
                bytes.append(0x0A)
            } else if takes("\\t") {
                bytes.append(0x09)
            } else if takes("\\f") {
                bytes.append(0x0C)
            } else if takes("\\x") {
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "\\"), let digit = rest.dropFirst().first, (0x30...0x37).contains(digit) {
                let digits = rest.dropFirst().prefix(3).prefix { (0x30...0x37).contains($0) }
                bytes.append(UInt8(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0)
                rest = rest.dropFirst(1 + digits.count)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return Data(bytes)
    }

    /// The first final response of a log; `nil` if it doesn't end, or is invalid.
    private static func expectation(_ log: String) -> Received? {
        var received = Received()
        var (name, value, isEnded, isDelimited) = ("", "", false, false)
        for line in log.split(separator: "\n") {
            if line.contains(" error ") { return nil }
            if let body = span("body", of: line) {
                received.body += body
            } else if let text = span("header_field", of: line) {
                name += String(decoding: text, as: UTF8.self)
            } else if let text = span("header_value", of: line) {
                value += String(decoding: text, as: UTF8.self)
            } else if line.hasSuffix("header_value complete") {
                received.fields.append("\(name): \(value)")
                (name, value) = ("", "")
            } else if let found = line.firstMatch(of: #/headers complete status=(\d+) .*flags=([0-9a-f]+) /#) {
                received.status = Int(found.1) ?? 0
                // Of a length, or in chunks.
                isDelimited = (Int(found.2, radix: 16) ?? 0) & 0x28 != 0
                isEnded = !isDelimited
            } else if line.hasSuffix("message complete") {
                isEnded = true
                guard (100..<200).contains(received.status), received.status != 101 else { return received }
                received = Received()
            }
        }
        return isEnded && received.status != 0 ? received : nil
    }

    private static func span(_ kind: String, of line: Substring) -> Data? {
        guard let start = line.range(of: "span[\(kind)]=") else { return nil }
        switch line[start.upperBound...] {
        case "cr": return Data([0x0D])
        case "lf": return Data([0x0A])
        case let text: return bytes(of: String(text.dropFirst().dropLast()))
        }
    }

    /// Lengths of a body, of which 42 bytes are sent.
    static func lengths(_ folder: Folder) async throws -> [Case] {
        var cases: [Case] = []
        for item in try folder.list("wpt/fetch/content-length/resources/content-lengths.json") {
            guard let input = item["input"] as? String else { continue }
            let body = Data(repeating: UInt8(ascii: "x"), count: 42)
            let head = Data("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(input)\r\n\r\n".utf8)
            let count = try await received(head + body).result?.body.count
            cases.append(Case("", input, problem: Case.difference(item["output"] as? Int, count)))
        }
        return cases
    }
}
