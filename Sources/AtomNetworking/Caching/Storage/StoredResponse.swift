import Foundation

/// A response that a cache keeps.
struct StoredResponse: Sendable, Equatable {
    /// The URL that it is a response to.
    var address: String
    var statusCode: Int
    /// Without those that belong to one connection, and without cookies.
    var headerFields: HeaderFields
    var body: Data
    /// The request's fields that `Vary` names, with names in lower case; a field that wasn't sent has an empty value.
    var varying: [HeaderItem]
    /// When it was asked for, and when it came, by the wall clock.
    var requestedAt: Date
    var receivedAt: Date
    /// When it came to this process; `nil` if it came to another one.
    var receivedInstant: MonotonicInstant?
    /// When the exchange began that has brought it, also for others; `nil` if that was in another process.
    var exchangeInstant: MonotonicInstant?
}

// Age and freshness.
extension StoredResponse {
    /// How old it is (RFC 9111 §4.2.3), as far as that is known.
    func age(at now: Moment) -> Duration { knownAge(at: now) ?? ageOnArrival }

    /// The same; `nil` if the wall clock has gone back since the response came to another process.
    func knownAge(at now: Moment) -> Duration? {
        if let receivedInstant { return ageOnArrival + max(receivedInstant.duration(to: now.instant), .zero) }
        return now.date < receivedAt ? nil : ageOnArrival + Self.time(from: receivedAt, to: now.date)
    }

    /// What `Age` says, and how long the response took.
    ///
    /// The device's clock isn't compared with `Date` (the RFC's `apparent_age`). Where the two agree, that says no more
    /// than `Age`, which each cache on the way has to send. Where they don't, a clock that is an hour fast would make
    /// everything an hour older, and stale for ever.
    var ageOnArrival: Duration {
        // Of several values the first counts, and what is no number doesn't (§5.1).
        let first = headerFields["Age"].flatMap { $0.utf8.split(separator: UInt8(ascii: ",")).first } ?? ""[...].utf8
        let digits = String(decoding: first, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        return (CacheDirectives.seconds(digits.utf8) ?? .zero) + Self.time(from: requestedAt, to: receivedAt)
    }

    /// How long it is fresh (RFC 9111 §4.2.1): what is invalid or contradicts itself makes it stale.
    ///
    /// - Parameter usesHeuristics: Whether one that doesn't say so is fresh for a tenth of the time since it was
    ///   modified, at most a day (§4.2.2).
    func lifetime(usesHeuristics: Bool = false) -> Duration {
        let directives = CacheDirectives(headerFields)
        guard directives["max-age"] == nil else { return directives.time("max-age") ?? .zero }
        // Both by the server's clock; without its date this device's has to do.
        let date = date("Date") ?? receivedAt
        guard !headerFields.contains("Expires") else {
            return self.date("Expires").map { Self.time(from: date, to: $0) } ?? .zero
        }
        guard usesHeuristics, Self.heuristicStatusCodes.contains(statusCode), let modified = self.date("Last-Modified")
        else { return .zero }
        return min(Self.time(from: modified, to: date) / 10, .day)
    }

    /// RFC 9110 §15.1.
    private static let heuristicStatusCodes: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    private static func time(from start: Date, to end: Date) -> Duration {
        .seconds(min(max(end.timeIntervalSince(start), 0), 0x8000_0000))
    }

    private func date(_ name: String) -> Date? { value(name).flatMap { HTTPDate.exactDate($0, now: receivedAt) } }

    /// The value of a field, if there is one only.
    private func value(_ name: String) -> String? {
        let values = headerFields.values(for: name)
        return values.count == 1 ? values[0] : nil
    }
}

// Validation.
extension StoredResponse {
    /// The fields that ask whether it still holds (RFC 9110 §13.1), also by a weak tag; none if it can't be asked.
    ///
    /// Only a successful response can be confirmed (§13.2.1).
    var conditions: [HeaderItem] {
        guard (200..<300).contains(statusCode) else { return [] }
        let tag = value("ETag").flatMap { Self.isEntityTag($0) ? $0 : nil }
        let modified = date("Last-Modified") == nil ? nil : value("Last-Modified")
        return [("If-None-Match", tag), ("If-Modified-Since", modified)].compactMap { name, value in
            value.map { HeaderItem(name: name, value: $0) }
        }
    }

    /// Whether it can be sent back: a `*` would match everything, and a list several.
    ///
    /// Some servers forget the quotation marks, and compare the texts.
    private static func isEntityTag(_ text: String) -> Bool {
        let tag = opaqueTag(text)
        let isQuoted = tag.count > 1 && tag.first == UInt8(ascii: "\"") && tag.last == UInt8(ascii: "\"")
        guard isQuoted else { return !tag.isEmpty && text.utf8.allSatisfy { unquotedTagBytes.contains($0) } }
        return tag.dropFirst().dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") }
    }

    private static let unquotedTagBytes = ByteSet.alphanumeric.union("-._~:+/=")

    /// The tag without the mark of a weak one.
    private static func opaqueTag(_ text: String) -> Substring.UTF8View {
        text.utf8.starts(with: "W/".utf8) ? text.utf8.dropFirst(2) : text.utf8[...]
    }

    /// The same with the fields of a 304, or of a response to HEAD (RFC 9111 §3.2); `nil` if those are of another
    /// representation.
    ///
    /// A 304 without a validator is about what was asked for. Such a response to HEAD proves nothing (§4.3.5), and
    /// changes nothing. Tags are compared as weak ones, as the server has done: a server that compresses marks the tag
    /// of a response as weak, and not that of a 304.
    ///
    /// What comes of it may not be what is kept: the new fields may say `no-store`.
    func freshened(
        by headerFields: HeaderFields, method: String = "GET", requestedAt: Date, receivedAt: Moment
    ) -> StoredResponse? {
        let own = self.headerFields
        let fields = CachePolicy.kept(headerFields)
        if method == "HEAD", let length = fields["Content-Length"], own["Content-Length"] ?? length != length {
            return nil
        }
        if let tag = fields["ETag"] {
            guard let ownTag = own["ETag"], Self.opaqueTag(tag).elementsEqual(Self.opaqueTag(ownTag)) else {
                return nil
            }
        } else if let modified = fields["Last-Modified"] {
            guard let ownModified = own["Last-Modified"], Self.isSameDate(modified, ownModified, now: receivedAt.date)
            else { return nil }
        } else if method == "HEAD" {
            return self
        }

        let names = Set(fields.map { $0.name.lowercased() })
        var stored = self
        // The date and the age of the old response aren't those of the new one.
        stored.headerFields.removeAll { field in
            let name = field.name.lowercased()
            return !Self.namesOfContent.contains(name) && (names.contains(name) || name == "date" || name == "age")
        }
        for field in fields where !Self.namesOfContent.contains(field.name.lowercased()) {
            stored.headerFields.append(name: field.name, value: field.value)
        }
        // The values of other fields of the request aren't known.
        guard let varying = CachePolicy.varying(stored.headerFields), let ownVarying = CachePolicy.varying(own),
            Set(varying).isSubset(of: ownVarying)
        else { return nil }
        stored.requestedAt = requestedAt
        stored.receivedAt = receivedAt.date
        stored.receivedInstant = receivedAt.instant
        return stored
    }

    /// These describe the body that is kept.
    private static let namesOfContent: Set = ["content-length", "content-encoding", "content-type", "content-range"]

    private static func isSameDate(_ first: String, _ second: String, now: Date) -> Bool {
        let dates = [first, second].map { HTTPDate.exactDate($0, now: now) }
        return first.utf8.elementsEqual(second.utf8) || dates[0] != nil && dates[0] == dates[1]
    }
}

// The bytes: a signature with the version, a checksum of all that follows, status and dates, then the texts and fields,
// each with its length, and the body. Numbers begin with their lowest byte.
extension StoredResponse {
    /// The bytes for a storage.
    var encoded: Data {
        var writer = Writer()
        writer.bytes.reserveCapacity(body.count + 2_048)
        writer.add(Self.signature)
        writer.add(0 as UInt64)
        writer.add(UInt32(clamping: statusCode))
        for date in [requestedAt, receivedAt] { writer.add(date.timeIntervalSinceReferenceDate.bitPattern) }
        writer.add(address)
        writer.add(Array(headerFields))
        writer.add(varying)
        writer.add(UInt64(body.count))
        writer.bytes.append(body)
        Self.seal(&writer.bytes)
        return writer.bytes
    }

    /// - Returns: `nil` if these are not all bytes of a response that this version has written.
    init?(encoded: Data) {
        let stored = encoded.withUnsafeBytes { bytes -> StoredResponse? in
            var reader = Reader(bytes: bytes)
            guard reader.number(UInt32.self) == Self.signature, let checksum = reader.number(UInt64.self),
                checksum == Self.checksum(reader.rest), let statusCode = reader.number(UInt32.self),
                let requestedAt = reader.date(), let receivedAt = reader.date(), let address = reader.text(),
                let headerFields = reader.items(), let varying = reader.items(),
                let length = reader.number(UInt64.self), length == UInt64(reader.rest.count)
            else { return nil }
            // One copy: the index of a slice's first byte isn't 0, as apps expect.
            return StoredResponse(
                address: address, statusCode: Int(clamping: statusCode), headerFields: HeaderFields(headerFields),
                body: Data(reader.rest), varying: varying, requestedAt: requestedAt, receivedAt: receivedAt)
        }
        guard let stored else { return nil }
        self = stored
    }

    /// Writes the checksum of all that follows it.
    static func seal(_ data: inout Data) {
        let checksum = data.withUnsafeBytes { Self.checksum(UnsafeRawBufferPointer(rebasing: $0.dropFirst(12))) }
        let start = data.startIndex + 4
        withUnsafeBytes(of: checksum.littleEndian) { data.replaceSubrange(start..<start + 8, with: $0) }
    }

    /// `ACR`, and the version of the format.
    static let signature: UInt32 = 0x0152_4341

    /// As FNV-1a, with words in place of bytes: another word always gives another sum, since each step can be undone.
    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        func add(_ word: UInt64) {
            sum = (sum ^ word) &* 0x9e37_79b9_7f4a_7c15
            // The product carries upwards only.
            sum ^= sum >> 32
        }
        let end = bytes.count & ~7
        for offset in stride(from: 0, to: end, by: 8) {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        add(bytes[end...].reduce(0) { $0 << 8 | UInt64($1) })
        return sum
    }
}

private struct Writer {
    var bytes = Data()

    mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ text: String) {
        add(UInt32(clamping: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ items: [HeaderItem]) {
        add(UInt32(clamping: items.count))
        for item in items {
            add(item.name)
            add(item.value)
        }
    }
}

/// Reads no byte that isn't there, and reserves nothing by a length.
private struct Reader {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
        guard bytes.count - offset >= MemoryLayout<Number>.size else { return nil }
        defer { offset += MemoryLayout<Number>.size }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }

    mutating func date() -> Date? {
        guard let bits = number(UInt64.self), case let seconds = Double(bitPattern: bits), seconds.isFinite
        else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    mutating func text() -> String? {
        guard let length = number(UInt32.self).flatMap(Int.init(exactly:)), length <= bytes.count - offset
        else { return nil }
        defer { offset += length }
        let part = bytes[offset..<offset + length]
        let text = String(decoding: part, as: UTF8.self)
        return text.utf8.elementsEqual(part) ? text : nil
    }

    mutating func items() -> [HeaderItem]? {
        guard let count = number(UInt32.self) else { return nil }
        var items: [HeaderItem] = []
        for _ in 0..<count {
            guard let name = text(), let value = text() else { return nil }
            items.append(HeaderItem(name: name, value: value))
        }
        return items
    }
}
