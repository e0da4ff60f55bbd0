#if canImport(Darwin)
    import Foundation
#endif

/// What a kept response is found by: whose it is, the URL, and what the request chose by its header fields.
struct CacheKey: Sendable {
    /// Whose it is; `nil` for a response that was asked for without a credential, which is everybody's.
    let owner: Tenure?
    let address: String
    /// The request's fields, with the cookies.
    private let fields: HeaderFields
    /// The names of those that may choose whose or what, though no `Vary` says so; in lower case and in order.
    private let choosing: [String]
    /// The counts of the cache when the request began: see ``KeptResponses``.
    let epoch: Int
    let changes: Int

    /// - Parameters:
    ///   - isSigned: Whether the owner tells who asks, whatever the cookies say.
    ///   - owner: Whose it is, if it is asked for with a credential.
    ///   - hasCredential: Whether it has one beside its fields.
    init(
        _ address: String, _ headerFields: HeaderFields, cookie: String?, of owner: Tenure, isSigned: Bool,
        hasCredential: Bool, counts: (epoch: Int, changes: Int)
    ) {
        var fields = headerFields
        if let cookie { fields.append(name: "Cookie", value: cookie) }
        choosing = Set(fields.map { $0.name.lowercased() }).filter {
            !HTTPGrammar.isHarmlessFieldName($0) && !Self.ofOneCall.contains($0) && !(isSigned && $0 == "cookie")
        }
        .sorted()
        self.owner = hasCredential || choosing.contains { CredentialName.isOne($0) } ? owner : nil
        self.address = address
        self.fields = fields
        (epoch, changes) = counts
    }

    /// A key that finds nothing.
    static func ofNobody(_ address: String) -> CacheKey {
        CacheKey(
            address, HeaderFields(), cookie: nil, of: .over, isSigned: false, hasCredential: true, counts: (-1, -1))
    }

    /// The `Cookie` field that it is sent with, as far as that is known.
    var cookie: String? { fields["Cookie"] }

    /// What differs between two calls for the same: traces, and what the cache itself reads.
    private static let ofOneCall: Set<String> = [
        "cache-control", "pragma", "traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "b3",
        "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-amzn-trace-id", "x-cloud-trace-context",
        "sentry-trace", "priority", "idempotency-key", "date", "referer",
    ]

    /// The fields that a response with this `Vary` is for; a digest in place of each credential.
    func varying(_ names: [String]) -> [HeaderItem] {
        Set(names).union(choosing).sorted().map { name in
            var value = fields.values(for: name).joined(separator: ", ")
            #if canImport(Darwin)
                // The system adds it, and a disk outlives a change of the language.
                if name == "accept-language", value.isEmpty { value = Locale.preferredLanguages.joined(separator: ",") }
            #endif
            let isSecret = CredentialName.isOne(name) && !value.isEmpty
            return HeaderItem(name: name, value: isSecret ? SHA256.hex(value) : value)
        }
    }

    /// Whether the fields with these names are those that were sent: signers and cookies may have added others.
    func knows(_ names: [String], of sent: HeaderFields, isSigned: Bool) -> Bool {
        names.allSatisfy { name in
            // The owner stands for it.
            isSigned && name == "authorization" || sent.values(for: name) == fields.values(for: name)
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
    var identity: Identity {
        Identity(
            owner: owner,
            text: Array(([address] + varying([]).map { "\($0.name): \($0.value)" }).joined(separator: "\n").utf8))
    }

    struct Identity: Hashable, Sendable {
        fileprivate let owner: Tenure?
        fileprivate let text: [UInt8]
    }
}

// It may hold a credential.
extension CacheKey: Redacted {}
