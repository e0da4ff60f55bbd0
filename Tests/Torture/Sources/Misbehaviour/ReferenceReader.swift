import Foundation

/// Reads a response as RFC 9112 says, to compare with what a transport made of it.
///
/// It is lenient where being so can't change what the body is: then a transport may
/// refuse, or must have read the same.
struct ReferenceReader {
    enum Verdict: Equatable {
        /// The body, and whether no strict client could object to the response.
        case whole(Int, Data, isImpeccable: Bool)
        /// The connection ended too early, or is silent.
        case incomplete
        /// What must not be taken for a response.
        case broken
        /// A coding that is not looked into.
        case coded
    }

    private var rest: ArraySlice<UInt8>
    private var isImpeccable = true
    private let isClosed: Bool

    static func read(_ bytes: Data, isClosed: Bool, isHead: Bool = false) -> Verdict {
        var reader = ReferenceReader(rest: Array(bytes)[...], isClosed: isClosed)
        return reader.response(isHead: isHead)
    }

    private init(rest: ArraySlice<UInt8>, isClosed: Bool) {
        self.rest = rest
        self.isClosed = isClosed
    }

    /// The next line without its end; `nil` if there is none.
    private mutating func line() -> String? {
        guard let end = rest.firstIndex(of: 0x0A) else { return nil }
        var line = rest[..<end]
        rest = rest[(end + 1)...]
        if line.last == 0x0D { line.removeLast() } else { isImpeccable = false }
        // Not every transport lets control characters be.
        if line.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 > 0x7F }) { isImpeccable = false }
        return String(decoding: line, as: UTF8.self)
    }

    private mutating func response(isHead: Bool) -> Verdict {
        guard var start = line() else { return .incomplete }
        // An empty line before it does no harm.
        while start.isEmpty, let next = line() {
            isImpeccable = false
            start = next
        }
        guard let match = start.wholeMatch(of: /HTTP\/(\d)(?:\.(\d))? +(\d{3})(?: .*)?/.dotMatchesNewlines()),
            let status = Int(match.3), status >= 100
        else { return .broken }
        if match.1 != "1" || match.2 != "1" || !start.hasPrefix("HTTP/1.1 \(match.3) ") { isImpeccable = false }
        var lengths: [String] = []
        var codings: [String] = []
        var isCoded = false
        while true {
            guard let line = line() else { return .incomplete }
            if line.isEmpty { break }
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), line.first?.isWhitespace != true else {
                isImpeccable = false
                // A fold might belong to a field that says where the body ends.
                if line.first?.isWhitespace == true { continue }
                continue
            }
            let raw = String(line[..<colon])
            let name = raw.trimmingCharacters(in: .whitespaces).lowercased()
            if raw.lowercased() != name || name.isEmpty || !name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
                isImpeccable = false
            }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            if name == "content-length" { lengths.append(value) }
            if name == "transfer-encoding" { codings.append(value.lowercased()) }
            if name == "content-encoding", value.lowercased() != "identity", !value.isEmpty { isCoded = true }
        }
        if status == 101 { return .broken }
        if status < 200 { return response(isHead: isHead) }
        if isHead || status == 204 || status == 304 {
            return .whole(status, Data(), isImpeccable: isImpeccable && lengths.isEmpty && codings.isEmpty)
        }
        let members = lengths.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard members.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            Set(members.map { Int64($0) }).count <= 1, !members.contains(where: { Int64($0) == nil })
        else { return .broken }
        if members.count > 1 || members.first?.hasPrefix("0") == true && members.first != "0" { isImpeccable = false }
        if isCoded { return .coded }
        if !codings.isEmpty {
            let isIdentity = codings == ["identity"] && members.isEmpty
            guard isIdentity || codings == ["chunked"], match.1 != "1" || match.2 != "0" else { return .broken }
            if isIdentity || !members.isEmpty { isImpeccable = false }
            if !isIdentity { return chunked(status) }
        }
        if let length = members.first.flatMap({ Int64($0) }) {
            guard Int64(rest.count) >= length else { return .incomplete }
            return .whole(status, Data(rest.prefix(Int(length))), isImpeccable: isImpeccable)
        }
        guard isClosed else { return .incomplete }
        return .whole(status, Data(rest), isImpeccable: isImpeccable)
    }

    private mutating func chunked(_ status: Int) -> Verdict {
        var body = Data()
        while true {
            guard let line = line() else { return .incomplete }
            let digits = line.prefix { $0.isASCII && $0.isHexDigit }
            guard !digits.isEmpty, let size = Int64(digits, radix: 16) else { return .broken }
            let after = line[digits.endIndex...]
            if !after.isEmpty, !after.hasPrefix(";") {
                isImpeccable = false
            }
            if digits.count > 16 { isImpeccable = false }
            guard size > 0 else { break }
            guard Int64(rest.count) > size else { return .incomplete }
            body += rest.prefix(Int(size))
            rest = rest.dropFirst(Int(size))
            guard let end = self.line() else { return rest.isEmpty ? .incomplete : .broken }
            guard end.isEmpty else { return .broken }
        }
        while true {
            // Not every transport waits for the last octets.
            guard let line = line() else { return .whole(status, body, isImpeccable: false) }
            if line.isEmpty { return .whole(status, body, isImpeccable: isImpeccable) }
            // Nor does each take every trailer.
            if !line.hasPrefix("X-") { isImpeccable = false }
        }
    }
}
