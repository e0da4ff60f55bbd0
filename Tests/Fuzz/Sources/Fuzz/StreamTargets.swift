import Foundation

@testable import AtomNetworking

enum StreamTargets {
    /// Server-sent events: in parts as in one piece, and as the standard says.
    @Sendable static func events(_ input: Input) {
        let whole = Events([input.data], limit: 1 << 20)
        check(whole == expected(input.bytes), "the events are the standard's", [input.text, whole.events])
        let limit = Int(input.number % 40)
        let limited = Events([input.data], limit: limit)
        for event in limited.events {
            // A byte that isn't UTF-8 becomes three.
            check(event.data.utf8.count <= 3 * limit, "an event isn't larger than the limit", [event.data, limit])
        }
        for parts in input.splits {
            check(Events(parts, limit: 1 << 20) == whole, "the parts make no difference", [input.text, parts])
            check(Events(parts, limit: limit) == limited, "nor with a limit", [input.text, parts, limit])
        }
    }

    private struct Events: Equatable {
        var events: [ServerSentEvent] = []
        var lastEventID = ""
        var retry: Duration?
        var hasFailed = false

        init() {}

        init(_ parts: [Data], limit: Int) {
            var parser = ServerSentEventParser(limit: limit)
            do {
                for part in parts {
                    parser.append(part)
                    while let event = try parser.next() { events.append(event) }
                }
            } catch { hasFailed = true }
            // What follows a failure in one part may not have been read in another.
            if !hasFailed { (lastEventID, retry) = (parser.lastEventID, parser.retry) }
        }
    }

    private static func expected(_ bytes: [UInt8]) -> Events {
        var result = Events()
        var (type, data, id) = ("", nil as [UInt8]?, "")
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for line in lines(bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...], withRest: false) {
            if line.isEmpty {
                // One that no field can carry is none to reconnect with.
                if HTTPGrammar.violation(inFieldValue: id) == nil { result.lastEventID = id }
                if let data {
                    let text = String(decoding: data.dropLast(), as: UTF8.self)
                    result.events.append(.init(type: type.isEmpty ? "message" : type, data: text, id: id))
                }
                (type, data) = ("", nil)
                continue
            }
            let name = line.prefix { $0 != 0x3A }
            var value = line.dropFirst(name.count + 1)
            if value.first == 0x20 { value = value.dropFirst() }
            switch String(decoding: name, as: UTF8.self) {
            case "data": data = (data ?? []) + value + [0x0A]
            case "event": type = String(decoding: value, as: UTF8.self)
            case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
            case "retry":
                let digits = String(decoding: value, as: UTF8.self)
                if value.allSatisfy(\.isDigit), let number = Int64(digits) { result.retry = .milliseconds(number) }
            default: break
            }
        }
        return result
    }

    /// The lines of a text, each of which CR LF, LF or CR ends.
    private static func lines(_ bytes: ArraySlice<UInt8>, withRest: Bool) -> [ArraySlice<UInt8>] {
        var (lines, rest) = ([ArraySlice<UInt8>](), bytes)
        while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            lines.append(rest[..<end])
            rest = rest[(end + 1)...]
            if bytes[end] == 0x0D, rest.first == 0x0A { rest = rest.dropFirst() }
        }
        return lines + (withRest && !rest.isEmpty ? [rest] : [])
    }

    /// Lines of text.
    @Sendable static func lines(_ input: Input) {
        let whole = Lines([input.data], limit: 1 << 20)
        let bytes = input.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? input.bytes.dropFirst(3) : input.bytes[...]
        check(whole.lines == lines(bytes, withRest: true).map { Data($0) }, "the lines are the text's", [input.text])
        let limit = Int(input.number % 20)
        let limited = Lines([input.data], limit: limit)
        check(limited.lines.allSatisfy { $0.count <= limit }, "no line is longer than the limit", [input.text, limit])
        for parts in input.splits {
            check(Lines(parts, limit: 1 << 20) == whole, "the parts make no difference", [input.text, parts])
            check(Lines(parts, limit: limit) == limited, "nor with a limit", [input.text, parts, limit])
        }
        var splitter = LineSplitter(limit: 1 << 20)
        splitter.append(input.data)
        splitter.finish()
        for line in whole.lines {
            let text = String(bytes: line, encoding: .utf8) == nil ? nil : String(decoding: line, as: UTF8.self)
            check((try? splitter.nextText()) == text, "only a line of UTF-8 is text", [line])
        }
    }

    private struct Lines: Equatable {
        var lines: [Data] = []
        var hasFailed = false

        init(_ parts: [Data], limit: Int) {
            var splitter = LineSplitter(limit: limit)
            do {
                for part in parts {
                    splitter.append(part)
                    while let line = try splitter.next() { lines.append(line) }
                }
                splitter.finish()
                while let line = try splitter.next() { lines.append(line) }
            } catch { hasFailed = true }
        }
    }

    /// Compressed bodies, of which the first byte says how: the codings, and whether the rest is compressed first.
    @Sendable static func decoder(_ input: Input) {
        #if os(Linux)
            guard let mode = input.bytes.first else { return }
            let codings = mode & 1 == 0 ? ["gzip"] : ["deflate"]
            let isTwice = mode & 2 != 0
            let coding = (codings + (isTwice ? ["gzip"] : [])).joined(separator: ", ")
            var content = Array(input.bytes.dropFirst())
            let plain = content
            if mode & 4 != 0 {
                content = mode & 1 == 0 ? gzip(content) : zlib(content)
                if isTwice { content = gzip(content) }
            }
            let wire = Input(content)
            let whole = Decoded([wire.data], coding)
            if mode & 4 != 0 {
                check(whole.output == plain && whole.isComplete, "the content is what was compressed", [plain.count])
            }
            for parts in wire.splits {
                let decoded = Decoded(parts, coding)
                guard !decoded.isTooLarge, !whole.isTooLarge else {
                    // A fault behind the limit is met or not, as the parts fall.
                    let count = min(decoded.output.count, whole.output.count)
                    check(
                        decoded.output.prefix(count) == whole.output.prefix(count), "the parts begin alike", [content])
                    continue
                }
                check(decoded.hasFailed == whole.hasFailed, "the parts make no difference", [content])
                guard !whole.hasFailed else { continue }
                check(decoded.output == whole.output, "the parts give the same content", [content])
                check(decoded.isComplete == whole.isComplete, "the end is the same", [content])
            }
        #endif
    }

    #if os(Linux)
        private struct Decoded {
            private static let limit = 1 << 18

            var output: [UInt8] = []
            var hasFailed = false
            var isComplete = false
            var isTooLarge: Bool { output.count == Self.limit }

            init(_ parts: [Data], _ coding: String) {
                guard let decoder = ContentDecoder(HeaderFields([.init(name: "Content-Encoding", value: coding)]))
                else { fatalError("zlib and the coding \(coding) are known") }
                do {
                    for part in parts {
                        decoder.take(part)
                        while let content = try decoder.next() {
                            check(content.count <= 64 << 10, "a part isn't larger than its limit", [content.count])
                            output += content
                            // A bomb of all the bytes that there is time for.
                            guard output.count <= Self.limit else {
                                output.removeLast(output.count - Self.limit)
                                return
                            }
                        }
                    }
                    isComplete = decoder.isComplete
                } catch { hasFailed = true }
            }
        }
    #endif

    /// A stored block (RFC 1951 §3.2.4).
    private static func stored(_ content: [UInt8]) -> [UInt8] {
        let count = UInt16(clamping: content.count)
        return [1] + [count, ~count].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } + content
    }

    private static func zlib(_ content: [UInt8]) -> [UInt8] {
        let sum = content.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let first = (sums.0 + UInt32(byte)) % 65_521
            return (first, (sums.1 + first) % 65_521)
        }
        return [0x78, 0x01] + stored(content)
            + [sum.1 >> 8, sum.1, sum.0 >> 8, sum.0].map { UInt8(truncatingIfNeeded: $0) }
    }

    private static func gzip(_ content: [UInt8]) -> [UInt8] {
        var sum = ~UInt32(0)
        for byte in content {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
        }
        let end = [~sum, UInt32(content.count)].flatMap { number in
            [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + stored(content) + end
    }

    /// Forms: a server finds the parts that were appended, and no others.
    @Sendable static func multipart(_ input: Input) {
        let texts = input.texts
        var form = MultipartForm()
        var isFile: [Bool] = []
        for index in stride(from: 0, to: texts.count - 2, by: 3) {
            isFile.append(texts[index + 2].count.isMultiple(of: 2))
            if isFile.last == true {
                form.append(Data(texts[index].utf8), name: texts[index + 1], fileName: texts[index + 2])
            } else {
                form.append(texts[index], name: texts[index + 1])
            }
        }
        if texts.count % 3 == 1, let type = texts.last {
            form.append(Data(), name: "", fileName: "", contentType: type)
            isFile.append(true)
        }
        var random = Generator(state: input.number)
        let boundary = form.makeBoundary(using: &random)
        guard let segments = try? form.segments(boundary: boundary) else { return }
        let body = segments.segments.reduce(into: [UInt8]()) { body, segment in
            if case .data(let data) = segment { body += data }
        }
        check(Int64(body.count) == segments.length, "the length is that of the body", [body.count])
        let delimiter = Array("--\(boundary)".utf8)
        let places = body.indices.filter { body[$0] == 0x2D && body[$0...].starts(with: delimiter) }
        check(places.count == isFile.count + 1, "the boundary is only between parts", [input.text])
        for (index, (start, end)) in zip(places, places.dropFirst()).enumerated() {
            let part = body[(start + delimiter.count)..<end]
            let lines = String(decoding: part, as: UTF8.self).utf8.split(
                separator: 0x0A, omittingEmptySubsequences: false)
            let fields = Array(lines.dropFirst().prefix { $0.elementsEqual([0x0D]) == false })
            check(fields.count == (isFile[index] ? 2 : 1), "a part has only its own fields", [input.text])
            check(!fields.contains { $0.dropLast().contains(0x0D) }, "a field is a line", [input.text])
            check(
                fields[0].starts(with: "Content-Disposition: form-data; name=\"".utf8), "its name is first",
                [input.text])
            let quotes = fields[0].filter { $0 == 0x22 }.count
            check(quotes == (isFile[index] ? 4 : 2), "no name ends early", [input.text])
        }
    }
}
