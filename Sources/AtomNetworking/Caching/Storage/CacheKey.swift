/// What a kept response is found by: whose it is, the URL, and what the request chose by its header fields.
struct CacheKey: Sendable {
    /// Whose it is; `nil` for a response that was asked for without a credential, which is everybody's.
    let owner: Tenure?
    let address: String
    /// The service's cookies that the request would be sent with.
    let cookie: String?
    /// The request's fields, with the cookies.
    private let fields: HeaderFields
    /// The names of those that may choose whose or what, though no `Vary` says so; in lower case and in order.
    private let choosing: [String]
    /// How often the cache had forgotten what was signed when the request began.
    let epoch: Int

    /// - Parameter hasOwner: Whether the owner alone tells who asks, whatever the cookies say.
    init(
        _ address: String, _ headerFields: HeaderFields, cookie: String?, owner: (_ hasCredential: Bool) -> Tenure?,
        isSigned: Bool, epoch: Int
    ) {
        var fields = headerFields
        if let cookie { fields.append(name: "Cookie", value: cookie) }
        let choosing = Set(fields.map { $0.name.lowercased() }).filter {
            !HTTPGrammar.isHarmlessFieldName($0) && !Self.ofOneCall.contains($0) && !(isSigned && $0 == "cookie")
        }
        .sorted()
        self.owner = owner(choosing.contains { CredentialName.isOne($0) })
        self.address = address
        self.cookie = cookie
        self.fields = fields
        self.choosing = choosing
        self.epoch = epoch
    }

    /// What differs between two calls for the same: traces, and what the cache itself reads.
    private static let ofOneCall: Set<String> = [
        "cache-control", "pragma", "traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "b3",
        "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-amzn-trace-id", "x-cloud-trace-context",
        "sentry-trace", "priority", "idempotency-key", "date", "referer",
    ]

    /// The fields that a response with this `Vary` is for, which has at least one line for each name.
    func varying(_ names: [String]) -> [HeaderItem] {
        Set(names).union(choosing).sorted().map {
            HeaderItem(name: $0, value: fields.values(for: $0).joined(separator: ", "))
        }
    }

    /// Whether a response is one for this request, as far as the URL and its fields say.
    func matches(_ response: StoredResponse) -> Bool {
        // By bytes: a string of Swift's is equal to others that a server tells apart.
        response.address.utf8.elementsEqual(address.utf8)
            && varying(response.varying.map(\.name)).elementsEqual(response.varying) { found, kept in
                found.name == kept.name && found.value.utf8.elementsEqual(kept.value.utf8)
            }
    }

    /// What this and other requests for the same have in common.
    var identity: [UInt8] {
        Array(address.utf8) + varying([]).flatMap { Array("\n\($0.name): \($0.value)".utf8) }
    }
}

// It may hold a credential.
extension CacheKey: Redacted {}
