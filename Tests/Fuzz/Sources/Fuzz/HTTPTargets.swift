import Foundation

@testable import AtomNetworking

enum HTTPTargets {
    /// Heads of responses, line by line, as libcurl gives them.
    @Sendable static func heads(_ input: Input) {
        #if os(Linux)
            var head = ResponseHead()
            var size = 0
            var rest = input.bytes[...]
            while !rest.isEmpty {
                let line = Array(rest[...(rest.firstIndex(of: 0x0A) ?? rest.endIndex - 1)])
                rest = rest.dropFirst(line.count)
                size += line.count
                let wasComplete = head.isComplete
                switch line.withUnsafeBufferPointer({ head.take($0) }) {
                case .incomplete: continue
                case .tooLarge: return check(size > ResponseHead.maximumSize, "a small head isn't too large", [size])
                case .invalid: return check(!wasComplete, "nothing after the head is invalid", [input.text])
                case .complete:
                    check(!wasComplete && head.isComplete, "a head is complete once", [input.text])
                    check((200...999).contains(head.statusCode), "an interim head isn't complete", [head.statusCode])
                    checkFields(head.takeFields(), input)
                    check(head.takeFields().isEmpty, "the fields are taken once", [])
                }
            }
        #endif
    }

    private static func checkFields(_ fields: HeaderFields, _ input: Input) {
        for field in fields {
            check(!field.name.isEmpty && !(field.name + field.value).breaksLine, "a field is a line", [input.text])
            check(!field.name.has(":"), "a name ends with the first colon", [input.text])
            let edges = [field.name.utf8.first, field.name.utf8.last, field.value.utf8.first, field.value.utf8.last]
            check(!edges.contains { $0 == 0x20 || $0 == 0x09 }, "there are no spaces around it", [input.text])
        }
        let lengths = fields.values(for: "content-length")
        check(lengths.count < 2 && lengths.allSatisfy { Int64($0).map { $0 >= 0 } ?? false }, "one length", [lengths])
        let codings = fields.values(for: "transfer-encoding")
        check(codings.count < 2 && codings.allSatisfy { $0.lowercased() == "chunked" }, "one coding", [codings])
    }

    /// Names and values of fields: what is accepted is one line, and one entry of libcurl's list.
    @Sendable static func fields(_ input: Input) {
        let texts = input.texts
        let pairs = zip(texts, texts.dropFirst()).map { HeaderItem(name: $0, value: $1) }
        let accepted = pairs.filter { (try? HTTPGrammar.checkField($0.name, $0.value)) != nil }
        for field in accepted {
            check(!(field.name + field.value).breaksLine, "a field is a line", [field.name, field.value])
            let token = field.name.utf8.allSatisfy { byte in
                byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
            check(token && !field.name.isEmpty, "a name is a token", [field.name])
        }
        checkList(accepted)
        var fields = HeaderFields(pairs)
        for pair in pairs {
            let values = pairs.filter { $0.name.folded == pair.name.folded }.map(\.value)
            check(fields.values(for: pair.name) == values, "all values are found", [pair.name])
            check(fields[pair.name] == values.first, "the first value is found", [pair.name])
        }
        guard let name = pairs.last?.name else { return }
        let others = pairs.filter { $0.name.folded != name.folded }
        fields[name] = "x"
        check(fields.count == others.count + 1 && fields.values(for: name) == ["x"], "a value is replaced", [name])
        fields[name] = nil
        check(Array(fields) == others, "the others stay", [name])
    }

    private static func checkList(_ fields: [HeaderItem]) {
        #if os(Linux)
            var lines = HeaderLines()
            lines.begin(size: fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }, lines: fields.count)
            for field in fields { lines.add(field.name, field.value) }
            var node = lines.list
            for field in fields {
                guard let line = node?.pointee else { return check(false, "every field is in the list", [field.name]) }
                let value = field.value.trimmingCharacters(in: [" ", "\t"])
                let expected = value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
                check(line.data.map { String(cString: $0) } == expected, "the line is the field", [expected])
                node = line.next
            }
            check(node == nil, "only the fields are in the list", [])
        #endif
    }

    /// Dates of HTTP and of cookies, and `Retry-After`.
    @Sendable static func dates(_ input: Input) {
        let now = Date(timeIntervalSince1970: 1_900_000_000)
        let text = input.text(0)
        let dates = [HTTPDate.date(text, now: now), HTTPDate.cookieDate(text)]
        for case let date? in dates {
            let seconds = date.timeIntervalSince1970
            check((-11_644_473_600...253_402_300_800).contains(seconds), "a year is in 1601…9999", [text, seconds])
            guard let printed = written(Int(seconds)) else { continue }
            check(HTTPDate.date(printed, now: now) == date, "a printed date is the same", [text, printed])
            check(HTTPDate.cookieDate(printed) == date, "a printed cookie's date is the same", [text, printed])
        }
        var fields = HeaderFields([HeaderItem(name: "Retry-After", value: text)])
        if input.texts.count > 1 { fields.append(name: "Date", value: input.text(1)) }
        guard let wait = RetryAfter.duration(in: fields, now: now) else {
            return check(Int(text).map { $0 < 0 } ?? true, "a number of seconds is one", [text])
        }
        check(wait >= .zero && wait <= .seconds(86_400), "the pause is at most a day", [text, wait])
        if let number = Int(text), (0...86_400).contains(number) {
            check(wait == .seconds(number), "seconds are seconds", [text, wait])
        }
    }

    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` outside of the years with four digits.
    private static func written(_ seconds: Int) -> String? {
        guard (-11_644_473_600..<253_402_300_800).contains(seconds) else { return nil }
        let (days, time) = (Int((Double(seconds) / 86_400).rounded(.down)), ((seconds % 86_400) + 86_400) % 86_400)
        // By the calendar's rule, year by year and month by month.
        var (year, rest) = (1_601, days + 134_774)
        year += rest / 146_097 * 400
        rest %= 146_097
        func isLong(_ year: Int) -> Bool { year % 4 == 0 && year % 100 != 0 || year % 400 == 0 }
        while rest >= (isLong(year) ? 366 : 365) {
            rest -= isLong(year) ? 366 : 365
            year += 1
        }
        var month = 0
        let lengths = [31, isLong(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while rest >= lengths[month] {
            rest -= lengths[month]
            month += 1
        }
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60))"
        return "Sun, \(two(rest + 1)) \(names[month]) \(year) \(clock) GMT"
    }

    /// Media types, and what is shown of them.
    @Sendable static func mediaTypes(_ input: Input) {
        let text = input.text
        let accepts = HTTPGrammar.isMediaType(text)
        if accepts { check(!text.breaksLine, "a media type is a line", [text]) }
        check(accepts == isMediaType(Array(text.utf8)), "it is one by the grammar", [text])
        _ = MediaType(text).map { ($0.isJSON, $0.isXML, $0.isHTML) }
        let response = AtomResponse(
            data: input.data, statusCode: 200, headerFields: HeaderFields([.init(name: "Content-Type", value: text)]))
        _ = try? ResponseText.text(of: response)
        _ = (response.description, response.quotes(without: { [] }), try? response.decode([String: Int].self))
        guard let shown = Redaction.mediaType(text) else { return }
        check(shown.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x1F || $0 == "…" }, "it is plain", [text])
        check(Redaction.mediaType(shown) == shown, "what is shown is shown again", [text, shown])
    }

    /// RFC 9110 §8.3.1 and §5.6.6, once more; without comments.
    private static func isMediaType(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        func isToken(_ byte: UInt8) -> Bool { byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte) }
        func token() -> Bool {
            let word = rest.prefix(while: isToken)
            rest = rest.dropFirst(word.count)
            return !word.isEmpty
        }
        func take(_ sign: Character) -> Bool {
            guard rest.first == sign.asciiValue else { return false }
            rest = rest.dropFirst()
            return true
        }
        func skipSpaces() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
        func isText(_ byte: UInt8) -> Bool { byte == 0x09 || byte >= 0x20 && byte != 0x7F }
        guard token(), take("/"), token() else { return false }
        while !rest.isEmpty {
            skipSpaces()
            guard take(";") else { return false }
            skipSpaces()
            guard token() else { continue }
            guard take("=") else { return false }
            guard take("\"") else {
                guard token() else { return false }
                continue
            }
            while let byte = rest.first, byte != UInt8(ascii: "\"") {
                if take("\\"), rest.isEmpty { return false }
                guard let byte = rest.first, isText(byte) else { return false }
                rest = rest.dropFirst()
            }
            guard take("\"") else { return false }
        }
        return true
    }

    /// `Content-Range`, and the codings of a body.
    @Sendable static func ranges(_ input: Input) {
        let text = input.text
        guard let range = ContentRange(text) else { return }
        check(range.first >= 0 && range.first <= range.last, "a range has bytes", [text])
        check(range.total.map { range.last < $0 } ?? true, "a range is in the whole", [text])
        let total = range.total.map(String.init) ?? "*"
        let printed = "bytes \(range.first)-\(range.last)/\(total)"
        check(ContentRange(printed) == range, "a printed range is the same", [text, printed])
    }
}
