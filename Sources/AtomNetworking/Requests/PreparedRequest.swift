import Foundation

/// An endpoint's description, read once and checked: all that is needed to
/// send it, and to send it again.
struct PreparedRequest: Sendable {
    /// Which way a request takes to the network.
    enum Channel {
        /// Through the session's queue and the slots of its origin.
        case service
        /// Straight to the transport: neither slot nor cookie, no redirect.
        case refresh
    }

    let channel: Channel
    let method: String
    let target: TargetURL
    /// The endpoint's header fields and the body's type; not yet signed.
    let headerFields: HeaderFields
    /// The names of header items that are not sent: the transport writes these
    /// fields itself.
    let omittedFields: [String]
    let body: Data?
    /// Whether the service's authentication method signs this.
    let isSigned: Bool
    let acceptableStatusCodes: ClosedRange<Int>
    let timeouts: RequestTimeouts

    /// Reads every member of the endpoint once, in the caller's isolation.
    ///
    /// - Parameter defaultTimeouts: Those of the service, for an endpoint that
    ///   has none of its own.
    /// - Throws: ``AtomError/requestable(_:)``, or what the endpoint's own
    ///   `baseURL()` and `path()` throw.
    init(
        _ requestable: any Requestable, timeouts defaultTimeouts: Result<RequestTimeouts, AtomError>
    ) throws(AtomError) {
        channel = .service
        let base = try requestable.baseURL()
        let path = try requestable.path()
        target = TargetURL(base: base, path: path, queryItems: requestable.queryItems ?? [])

        let method = requestable.method
        guard HTTPGrammar.isToken(method.name) else {
            throw .requestable(
                .invalidMethod(.init(subject: method.name, reason: "a method is a token (RFC 9110 §9.1)")))
        }
        self.method = method.name

        var omitted: [String] = []
        var fields = try Self.headerFields(requestable.headerItems ?? [], omitting: &omitted)
        omittedFields = omitted
        let ownAuthorization = fields.contains("Authorization")
        body = try Self.body(of: method, and: requestable.body, fields: &fields)
        headerFields = fields

        let requiresAuthorization = requestable.requiresAuthorization
        isSigned = requiresAuthorization && !ownAuthorization
        acceptableStatusCodes = requestable.acceptableStatusCodes
        timeouts = if let timeout = requestable.timeout { try timeout.checked() } else { try defaultTimeouts.get() }
    }

    /// A request of the SDK's own, unsigned.
    init(
        channel: Channel, method: String, target: TargetURL, headerFields: HeaderFields, body: Data?,
        acceptableStatusCodes: ClosedRange<Int>, timeout: Duration
    ) {
        self.channel = channel
        self.method = method
        self.target = target
        self.headerFields = headerFields
        omittedFields = []
        self.body = body
        isSigned = false
        self.acceptableStatusCodes = acceptableStatusCodes
        timeouts = RequestTimeouts(idle: timeout, total: timeout)
    }

    private static func headerFields(
        _ items: [HeaderItem], omitting omitted: inout [String]
    ) throws(AtomError) -> HeaderFields {
        var fields = HeaderFields()
        // For none there is nothing to allocate: the credential comes later, into a copy.
        if !items.isEmpty { fields.reserveCapacity(items.count + 2) }
        for item in items {
            guard HTTPGrammar.isToken(item.name) else {
                throw .requestable(
                    .invalidHeader(
                        .init(
                            subject: HTTPGrammar.tokenPrefix(of: item.name) + "…",
                            reason: "a field name is a token (RFC 9110 §5.1)")))
            }
            if let reason = HTTPGrammar.violation(inFieldValue: item.value) {
                throw .requestable(.invalidHeader(.init(subject: item.name, reason: reason)))
            }
            // What the app says in these is either what is written anyway or would break the message.
            if HTTPGrammar.isReservedFieldName(item.name) {
                omitted.append(item.name)
            } else {
                fields.append(name: item.name, value: item.value)
            }
        }
        return fields
    }

    /// The bytes to send, whichever of the two places they come from; their
    /// media type is added unless the endpoint names one.
    private static func body(
        of method: HTTPMethod, and described: RequestBody?, fields: inout HeaderFields
    ) throws(AtomError) -> Data? {
        guard method.body == nil || described == nil else {
            throw .requestable(
                .invalidBody(
                    .init(subject: method.name, reason: "there are two bodies, one in the method and one in body")))
        }
        let bytes: Data? = if let described { try described.bytes() } else { method.body }
        guard let bytes else { return nil }
        guard !["GET", "HEAD", "TRACE", "CONNECT"].contains(method.name) else {
            throw .requestable(
                .invalidMethod(
                    .init(subject: method.name, reason: "this method is sent without a body (RFC 9110 §9.3)")))
        }
        if !fields.contains("Content-Type"), !bytes.isEmpty || described != nil {
            let contentType = described?.contentType ?? method.contentType
            if let reason = HTTPGrammar.violation(inFieldValue: contentType) {
                throw .requestable(.invalidHeader(.init(subject: "Content-Type", reason: reason)))
            }
            fields.append(name: "Content-Type", value: contentType)
        }
        return bytes
    }
}

extension PreparedRequest: CustomStringConvertible, CustomReflectable {
    /// Method and URL without the values of the query.
    var description: String { "\(method) \(target)" }

    /// Keeps `dump` to what ``description`` shows.
    var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
