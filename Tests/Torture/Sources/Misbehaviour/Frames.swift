import AtomNetworking
import Foundation

/// What the server of `frames.py` does over one of its ports; it says in which words.
struct FrameScript: Encodable, Sendable {
    /// How a request may end.
    enum End: String, Encodable, Sendable {
        /// With the response of the script.
        case scripted
        /// With a response that the server gives to requests without a script.
        case own
        /// With an error.
        case answered, maybeSent, notSent
    }

    var id = ""
    /// The first request over the first connection that the steps are for; those before it come one by one.
    var nth = 1
    var steps: [[String]] = []
    /// What the server says before all else.
    var settings = HTTP2.frame(4).hex
    /// How many seconds after the connection's beginning it says that.
    var lateness = 0.0
    /// How many streams it lets be open; 0 for any number.
    var limit = 0
    var refusesAlways = false
    /// Whether the steps begin before the body.
    var isEarly = false
    /// Whether requests after the first one wait for the steps.
    var gathers = false
    /// Whether the server says that it has not processed the request.
    var refuses = false
    /// Whether it writes the head of a response.
    var hasHead = false
    var ends: Set<End> = []
    /// How many requests are made at once.
    var count = 1

    var hasFlood: Bool { steps.contains { $0.first == "flood" } }

    static func write(_ bytes: [UInt8]) -> [String] { ["write", bytes.hex] }
    static func wait(_ seconds: Double) -> [String] { ["wait", "\(seconds)"] }
    static func flood(_ bytes: [UInt8]) -> [String] { ["flood", bytes.hex] }
    /// Answers the requests that wait, up to a stream, and leaves the later ones behind.
    static func others(upTo stream: UInt32) -> [String] { ["others", "\(stream)"] }
    /// The end of TLS, of what TCP sends, and of everything.
    static let alert = ["alert", ""], end = ["end", ""], reset = ["reset", ""]
}

/// Frames of HTTP/2 (RFC 9113 §6), and fields of HPACK without compression (RFC 7541 §6).
enum HTTP2 {
    static func frame(_ kind: UInt8, _ flags: UInt8 = 0, _ stream: UInt32 = 0, _ body: [UInt8] = []) -> [UInt8] {
        number(UInt32(body.count)).dropFirst() + [kind, flags] + number(stream) + body
    }

    static func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    static let ok: [UInt8] = [0x88]

    /// Without a length, the head has none.
    static func head(_ stream: UInt32, _ fields: [UInt8] = [], length: Int? = nil, flags: UInt8 = 4) -> [UInt8] {
        frame(1, flags, stream, ok + fields + (length.map { field("content-length", "\($0)") } ?? []))
    }

    static func data(_ stream: UInt32, _ text: String, isLast: Bool = true) -> [UInt8] {
        frame(0, isLast ? 1 : 0, stream, Array(text.utf8))
    }

    static func field(_ name: String, _ value: String) -> [UInt8] { [0] + text(name) + text(value) }

    private static func text(_ text: String) -> [UInt8] {
        // RFC 7541 §5.1, with a prefix of seven bits.
        var size: [UInt8] = [UInt8(min(text.utf8.count, 127))]
        if text.utf8.count >= 127 {
            var rest = text.utf8.count - 127
            while rest >= 128 {
                size.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            size.append(UInt8(rest))
        }
        return size + Array(text.utf8)
    }

    static func reset(_ stream: UInt32, _ code: UInt32) -> [UInt8] { frame(3, 0, stream, number(code)) }

    static func goodbye(_ last: UInt32, _ code: UInt32 = 0, saying text: String = "") -> [UInt8] {
        frame(7, 0, 0, number(last) + number(code) + Array(text.utf8))
    }
}

extension Collection<UInt8> {
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// The program `frames.py`, whose folder the environment names.
final class FramesServer: Sendable {
    struct Report: Decodable, Sendable {
        /// By the names of requests.
        let taken: [String: Int]
        let refused: [String: Int]
        let answered: [String: Int]
        /// How often the script has begun and ended.
        let played: Int
        let ended: Int
    }

    private struct Command: Encodable {
        var open: FrameScript?
        var report: Int?
        var isLast = false
    }

    static let shared = try? FramesServer()

    /// Why there can be none; `nil` if there can.
    static var obstacle: String? {
        if file == nil { return "TORTURE_FRAMES names no program" }
        let missing = ["python3", "openssl"].filter { path(of: $0) == nil }
        return missing.isEmpty ? nil : "\(missing.joined(separator: " and ")) is not installed"
    }

    private static var file: String? { ProcessInfo.processInfo.environment["TORTURE_FRAMES"] }

    private static func path(of name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Reads lines.
    private struct Reader: Sendable {
        let handle: FileHandle
        var rest = Data()

        mutating func next<Value: Decodable>() throws -> Value {
            while true {
                if let end = rest.firstIndex(of: 0x0A) {
                    let line = Data(rest[..<end])
                    rest = Data(rest[(end + 1)...])
                    return try JSONDecoder().decode(Value.self, from: line)
                }
                let part = handle.availableData
                guard !part.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
                rest += part
            }
        }
    }

    /// One that trusts only it.
    static func transport() throws -> any Transport {
        guard let shared else { throw CocoaError(.fileNoSuchFile) }
        return try CurlTransport(authorities: shared.certificate, trustsSystem: false, proxy: .none)
    }

    /// Its certificate, in PEM.
    let certificate: String
    private let process = Process()
    private let input = Pipe()
    private let output: Locked<Reader>

    private init() throws {
        guard let file = Self.file, let python = Self.path(of: "python3") else { throw CocoaError(.fileNoSuchFile) }
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [file]
        process.standardInput = input
        process.standardOutput = pipe
        try process.run()
        var reader = Reader(handle: pipe.fileHandleForReading)
        certificate = try reader.next()
        output = Locked(reader)
    }

    /// The program answers at once.
    private func ask<Value: Decodable & Sendable>(_ command: Command) throws -> Value {
        let line = try JSONEncoder().encode(command) + Data("\n".utf8)
        return try output.with { reader in
            try input.fileHandleForWriting.write(contentsOf: line)
            return try reader.next()
        }
    }

    /// Returns the port.
    func open(_ script: FrameScript) throws -> Int { try ask(Command(open: script)) }

    /// What has come to a port; after the last report it is closed.
    func report(of port: Int, isLast: Bool = false) throws -> Report { try ask(Command(report: port, isLast: isLast)) }
}
