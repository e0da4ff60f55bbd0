import Foundation

@testable import AtomNetworking

enum CacheTargets {
    private static let now = Date(timeIntervalSince1970: 1_900_000_000)
    private static let moment = Moment(instant: MonotonicInstant(nanoseconds: 5), date: now)

    /// `Cache-Control` of responses, and the fields that count with it, in the order of `names`.
    @Sendable static func directives(_ input: Input) {
        let texts = input.texts
        let directives = CacheDirectives(HeaderFields(texts.map { HeaderItem(name: "cache-control", value: $0) }))
        for name in ["max-age", "stale-if-error"] {
            guard let time = directives.time(name) else { continue }
            check(time >= .zero && time <= .seconds(2_147_483_648), "a time is one", [texts, time])
            check(texts.contains { isWritten(name, in: $0) }, "a time is written", [texts, time])
        }
        // Alone in a field, or before a mistake, it is always heard.
        for fields in [texts + ["no-store"], texts.map { "No-Store,\($0)" }] {
            let found = CacheDirectives(HeaderFields(fields.map { HeaderItem(name: "Cache-Control", value: $0) }))
            check(found["no-store"] != nil, "what forbids is heard", [texts])
        }
        checkPolicy(HeaderFields(zip(names, texts).map { HeaderItem(name: $0, value: $1) }))
    }

    private static let names = [
        "Cache-Control", "Cache-Control", "Vary", "Connection", "ETag", "Expires", "Age", "Date", "Last-Modified",
        "Location", "Pragma",
    ]

    /// Whether an element is a name with digits, once more.
    private static func isWritten(_ name: String, in text: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: ",")).contains { element in
            let element = String(decoding: element, as: UTF8.self).trimmingCharacters(in: [" ", "\t"])
            guard element.folded.starts(with: "\(name)=".utf8) else { return false }
            let value = element.utf8.dropFirst(name.utf8.count + 1)
            let isQuoted = value.count > 2 && value.first == 0x22 && value.last == 0x22
            let digits = isQuoted ? value.dropFirst().dropLast() : value
            return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        }
    }

    private static func checkPolicy(_ fields: HeaderFields) {
        let stored = StoredResponse(
            address: "https://a.example/", statusCode: 200, headerFields: CachePolicy.kept(fields), body: Data(),
            varying: [], requestedAt: now, receivedAt: now)
        let shown = fields.map { "\($0.name): \($0.value)" }
        let lifetime = stored.lifetime(usesHeuristics: true)
        check(lifetime >= .zero && stored.age(at: moment) >= .zero, "no time is negative", [shown, lifetime])
        if let names = CachePolicy.varying(fields) {
            check(names == Set(names).sorted() && names.allSatisfy(HTTPGrammar.isToken), "names are tokens", [shown])
            check(!fields.values(for: "Vary").contains { $0.has("*") && $0.utf8.count == 1 }, "a star counts", [shown])
        }
        for item in stored.conditions {
            check(HTTPGrammar.violation(inFieldValue: item.value) == nil, "it can be sent", [shown])
            check(item.value != "*", "it matches one representation", [shown])
        }
        let forbids = CacheDirectives(fields)["no-store"] != nil
        for caching in [ResponseCaching.whileCacheFresh, .revalidatingWithService, .onlyIfCached] {
            // The fields are those of a request, too.
            for request in [HeaderFields(), fields] {
                let policy = CachePolicy(caching, method: "GET", headerFields: request)
                if case .use(isStale: false, _) = policy.decision(on: stored, at: moment) {
                    check(stored.age(at: moment) < lifetime, "what is fresh is", [shown])
                    check(CacheDirectives(fields)["no-cache"] == nil, "it needs no question", [shown])
                    check(caching != .revalidatingWithService, "the server is always asked", [shown])
                }
                if policy.keeps(200, fields, receivedAt: now), forbids {
                    check(CacheDirectives(fields)["must-understand"] == .missing, "it may be kept", [shown])
                }
            }
        }
        if let fresh = stored.freshened(by: fields, requestedAt: now, receivedAt: moment) {
            check(CachePolicy.varying(fresh.headerFields) != nil, "another request may be alike", [shown])
            check(fresh.freshened(by: fields, requestedAt: now, receivedAt: moment) == fresh, "twice is once", [shown])
        }
        guard let target = TargetURL.resolving("https://a.example/b?c", against: nil) else { return }
        let urls = CachePolicy.invalidated(by: "POST", to: target, (200, fields))
        check(urls.first == target && urls.allSatisfy { $0.origin == target.origin }, "only its own", [shown])
    }

    /// Bytes of kept responses, also behind a checksum that is right, and responses made of the input.
    @Sendable static func cached(_ input: Input) {
        if let stored = StoredResponse(encoded: input.data) { checkBytes(stored, input.data) }
        var sealed = input.data.count < 12 ? Data(count: 12) : input.data
        sealed.replaceSubrange(0..<4, with: withUnsafeBytes(of: StoredResponse.signature.littleEndian) { Data($0) })
        StoredResponse.seal(&sealed)
        if let stored = StoredResponse(encoded: sealed) { checkBytes(stored, sealed) }

        let texts = input.texts
        let items = zip(texts, texts.dropFirst()).map { HeaderItem(name: $0, value: $1) }
        let made = StoredResponse(
            address: texts[0], statusCode: 200, headerFields: HeaderFields(items), body: input.data, varying: items,
            requestedAt: now, receivedAt: now)
        let encoded = made.encoded
        check(StoredResponse(encoded: encoded) == made, "what was written is read", [texts])
        let place = Int(input.number % UInt64(encoded.count))
        check(StoredResponse(encoded: encoded.prefix(place)) == nil, "a part is none", [texts, place])
        var changed = encoded
        changed[place] ^= 1 << UInt8(input.number >> 61)
        check(StoredResponse(encoded: changed) == nil, "a changed bit makes it none", [texts, place])
    }

    private static func checkBytes(_ stored: StoredResponse, _ data: Data) {
        check(stored.encoded == data, "what was read is written", [data])
        check(stored.age(at: moment) >= .zero && stored.lifetime() >= .zero, "no time is negative", [data])
    }
}
