import Foundation
import Testing

@testable import AtomNetworking

/// Where the forms are written; `nil` in a usual run.
private let wishedFolder = ProcessInfo.processInfo.environment["ATOM_MULTIPART_CASES"]

/// Writes random forms for `Tests/Multipart/check`, which lets other programs
/// read them.
@Suite("Random forms for other parsers", .enabled(if: wishedFolder != nil), .limited)
struct MultipartCasesTests {
    private static func number(_ name: String, or other: UInt64) -> UInt64 {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? other
    }

    /// What was appended, before the form encoded it.
    private struct Part: Encodable {
        let name: String
        let fileName: String?
        let contentType: String?
        let content: Data
    }

    private struct Case: Encodable {
        let contentType: String
        let parts: [Part]
    }

    private static let pieces = [
        "a", "Z", "0", " ", "\"", "\r", "\n", "\r\n", "\r\n--", "--", "%", "%22", "%0D%0A", ";", "=", ",", ":", "/",
        "'", "é", "e\u{301}", "ß", "東京", "Ж", "🛫", "👩‍👩‍👧", "\u{202E}", "name", "filename=", "filename*=UTF-8''x",
        "\r\nContent-Type: text/html\r\n\r\n", "--AtomFormBoundary", "AtomFormBoundary", "&amp;", "+", "<script>",
    ]

    private static let types = [
        "application/octet-stream", "text/plain", "text/plain; charset=utf-8", "image/png", "application/json",
        "application/vnd.api+json; v=\"1;2\"",
    ]

    /// - Parameter hasBackslashes: Not all parsers read backslashes as browsers
    ///   mean them, so they are in few forms.
    private static func text(
        _ generator: inout SeededGenerator, boundary: String, hasBackslashes: Bool = false
    ) -> String {
        if Int.random(in: 0..<12, using: &generator) == 0 { return "" }
        return (0..<Int.random(in: 1...8, using: &generator)).map { _ in
            if Int.random(in: 0..<15, using: &generator) == 0 { return "\r\n--\(boundary)" }
            if Int.random(in: 0..<15, using: &generator) == 0 { return boundary }
            if hasBackslashes, Int.random(in: 0..<8, using: &generator) == 0 { return "\\" }
            return pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        }.joined()
    }

    private static func content(_ generator: inout SeededGenerator, boundary: String) -> Data {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            return Data()
        case 1...3:
            // Some parsers read pieces of 8 or 64 KiB.
            let limit = [10, 200, 9000, 140_000][Int.random(in: 0..<4, using: &generator)]
            let count = Int.random(in: 0...limit, using: &generator)
            return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        default:
            return Data(text(&generator, boundary: boundary).utf8)
        }
    }

    @Test("Random forms are written for other parsers, and each has the length that it says")
    func write() throws {
        let folder = URL(fileURLWithPath: try #require(wishedFolder))
        let seed = Self.number("ATOM_SEED", or: 1)
        var generator = SeededGenerator(seed: seed)
        var cases: [Case] = []
        var collisions = 0
        for index in 0..<Self.number("ATOM_MULTIPART_COUNT", or: 1000) {
            // The boundary that a form without collision gets.
            var boundaries = SeededGenerator(seed: seed &+ index &* 1_000_003)
            var wished = boundaries
            let boundary = MultipartForm().makeBoundary(using: &wished)

            var form = MultipartForm()
            var parts: [Part] = []
            // Files are not searched, so they must not have the boundary.
            let other = String(boundary.dropLast()) + "_"
            for place in 0..<Int.random(in: 0...6, using: &generator) {
                let name = Self.text(&generator, boundary: boundary, hasBackslashes: index % 8 == 0)
                let type = Self.types[Int.random(in: 0..<Self.types.count, using: &generator)]
                let fileName = Self.text(&generator, boundary: boundary, hasBackslashes: index % 8 == 0)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0:
                    let value = Self.text(&generator, boundary: boundary)
                    form.append(value, name: name)
                    parts.append(Part(name: name, fileName: nil, contentType: nil, content: Data(value.utf8)))
                case 1:
                    let data = Self.content(&generator, boundary: boundary)
                    form.append(data, name: name, fileName: fileName, contentType: type)
                    parts.append(Part(name: name, fileName: fileName, contentType: type, content: data))
                default:
                    let data = Self.content(&generator, boundary: other)
                    let file = folder.appendingPathComponent("\(index)-\(place).part")
                    try data.write(to: file)
                    form.append(fileAt: file, name: name, fileName: fileName, contentType: type)
                    parts.append(Part(name: name, fileName: fileName, contentType: type, content: data))
                }
            }
            let chosen = form.makeBoundary(using: &boundaries)
            if chosen != boundary { collisions += 1 }
            let body = try form.segments(boundary: chosen)
            let bytes = try body.makeReader().rest(bufferSize: 1 + Int(index) * 7)
            #expect(body.length == Int64(bytes.count))
            try bytes.write(to: folder.appendingPathComponent("\(index).body"))
            cases.append(Case(contentType: form.contentType(boundary: chosen), parts: parts))
        }
        #expect(collisions > cases.count / 4 || cases.count < 100)
        try JSONEncoder().encode(cases).write(to: folder.appendingPathComponent("cases.json"))
    }
}
