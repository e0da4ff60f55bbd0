import Foundation

/// A validated request, with everything that is needed to send it.
struct PreparedRequest: Sendable {
    /// What a request is for.
    enum Purpose {
        /// The app asked for it.
        case service
        /// The session needs a token.
        case token
        /// A token is to be revoked.
        case revocation
    }

    let purpose: Purpose
    /// With the endpoint's header fields and the content type; not yet signed.
    private(set) var message: RequestMessage
    /// How many of the fields the endpoint has set, which come first.
    private var ownFieldCount = 0
    /// The names of header items that only the transport writes.
    let omittedFields: [String]
    /// Whether the service's authentication method signs this.
    let requiresAuthorization: Bool
    let acceptableStatusCodes: ClosedRange<Int>
    var timeouts: RequestTimeouts
    /// Whether the app's signers may add to it: not to a link of somebody else.
    let takesSigners: Bool
    /// Whether an identical request in flight may be shared; only for a GET.
    let sharesIdenticalRequests: Bool
    /// What the endpoint says about sending the request again, if anything.
    private(set) var retrying: EndpointRetrying?
    /// The type of the endpoint, if somebody observes the request.
    let endpoint: Any.Type?
    /// What a cache makes of the response.
    enum Keeping {
        /// There is none, or it doesn't matter to it.
        case nothing
        /// It may be kept.
        case response
        /// The same; and a 304, which says that what is kept still holds, is a success.
        case confirmation
    }

    private(set) var keeping = Keeping.nothing
    /// For a link, whose response it was in, and for a page, whose the pages before are: it is sent for that person and
    /// for nobody else.
    var tenure: Tenure?

    var method: String { message.method }
    var target: TargetURL { message.target }
    var headerFields: HeaderFields { message.headerFields }
    var body: TransportBody? { message.body }
}

extension PreparedRequest {
    /// Checks what an endpoint has said, and adapters have changed.
    @inline(__always)
    init(
        _ endpoint: borrowing RequestDescription, of type: Any.Type?,
        timeouts defaultTimeouts: Result<RequestTimeouts, AtomError>, encoder: JSONEncoder,
        common: Result<CommonFields, AtomError>?, takesSigners: Bool = true
    ) throws(AtomError) {
        let target = try endpoint.target()
        let method = endpoint.method
        // The other methods are tokens.
        if case .token(let name, _) = method, !HTTPGrammar.isToken(name) {
            throw .refused(RequestableError.invalidMethod, method.name, because: "a method is a token (RFC 9110 §9.1)")
        }

        var omitted: [String] = []
        var fields = try Self.headerFields(endpoint.headerItems, omitting: &omitted)
        let ownFieldCount = fields.count
        let common = try common?.get()
        // The bytes of a method have no media type of their own.
        if endpoint.body == nil, let common {
            common.add(to: &fields, where: { HeaderFields.isSameName($0, "Content-Type") })
        }
        let body = try Self.body(of: method, and: endpoint.body, encoder: encoder, fields: &fields)
        if let common {
            common.add(
                to: &fields,
                where: { endpoint.requiresAuthorization || !HeaderFields.isSameName($0, "Authorization") })
            omitted += common.omitted
        }
        if let retrying = endpoint.retrying, retrying.idempotency == .byKey, !fields.contains(Idempotency.fieldName) {
            fields.append(name: Idempotency.fieldName, value: UUID().uuidString)
        }
        // A range counts the bytes of what is encoded, and a part of that can't be decoded (RFC 9110 §14.1.2).
        if fields.contains("Range"), !fields.contains("Accept-Encoding") {
            fields.append(name: "Accept-Encoding", value: "identity")
        }
        let ownAuthorization = fields.contains("Authorization")
        let timeouts =
            if let timeout = endpoint.timeout { try timeout.checked() } else { try defaultTimeouts.get() }
        // At once: a request that is made part by part is copied when it is complete.
        self.init(
            purpose: .service,
            message: RequestMessage(method: method.name, target: target, headerFields: fields, body: body),
            ownFieldCount: ownFieldCount, omittedFields: omitted,
            requiresAuthorization: endpoint.requiresAuthorization && !ownAuthorization,
            acceptableStatusCodes: endpoint.acceptableStatusCodes, timeouts: timeouts, takesSigners: takesSigners,
            sharesIdenticalRequests: endpoint.sharesIdenticalRequests && method.name == "GET",
            retrying: endpoint.retrying, endpoint: type)
    }

    /// A request of the SDK itself, unsigned.
    init(
        purpose: Purpose, method: String, target: TargetURL, headerFields: HeaderFields, body: TransportBody?,
        acceptableStatusCodes: ClosedRange<Int>, timeout: Duration
    ) {
        self.init(
            purpose: purpose,
            message: RequestMessage(method: method, target: target, headerFields: headerFields, body: body),
            omittedFields: [], requiresAuthorization: false, acceptableStatusCodes: acceptableStatusCodes,
            timeouts: RequestTimeouts(idle: timeout, total: timeout), takesSigners: false,
            sharesIdenticalRequests: false, retrying: nil, endpoint: nil)
    }

    /// The same request with a policy of its own.
    func following(_ retryPolicy: RetryPolicy) -> PreparedRequest {
        var request = self
        request.retrying = EndpointRetrying.of(retryPolicy, retrying?.idempotency)
        return request
    }

    /// The same request with conditions, if there are any, for a response that may be kept.
    func asking(_ conditions: [HeaderItem]) -> PreparedRequest {
        var request = self
        for condition in conditions { request.set(condition.name, condition.value) }
        request.keeping = conditions.isEmpty ? .response : .confirmation
        return request
    }

    /// Sets a field that the call needs, unless the endpoint has set it.
    mutating func set(_ name: String, _ value: String) {
        let own = headerFields.prefix(ownFieldCount)
        if !own.contains(where: { HeaderFields.isSameName($0.name, name) }) { message.headerFields[name] = value }
    }

    struct CommonFields: Sendable {
        fileprivate private(set) var fields: HeaderFields
        fileprivate private(set) var omitted: [String] = []

        init(_ items: [HeaderItem]) throws(AtomError) {
            fields = try PreparedRequest.headerFields(items, omitting: &omitted)
        }

        /// Only the fields that can't be a secret, for a foreign origin.
        var harmless: CommonFields {
            var common = self
            common.fields = HeaderFields(fields.filter { HTTPGrammar.isHarmlessFieldName($0.name) })
            return common
        }

        fileprivate func add(to request: inout HeaderFields, where isWanted: (String) -> Bool) {
            let own = request
            for field in fields where isWanted(field.name) && !own.contains(field.name) {
                request.append(name: field.name, value: field.value)
            }
        }
    }

    private static func headerFields(
        _ items: [HeaderItem], omitting omitted: inout [String]
    ) throws(AtomError) -> HeaderFields {
        var fields = HeaderFields()
        // The credential is added later, to a copy.
        if !items.isEmpty { fields.reserveCapacity(items.count + 2) }
        for item in items {
            try HTTPGrammar.checkField(item.name, item.value)
            // The app's values of these are redundant, or would break the message.
            if HTTPGrammar.isReservedFieldName(item.name) {
                omitted.append(item.name)
            } else {
                // A default comes first, and what overrides it later.
                fields[item.name] = item.value
            }
        }
        return fields
    }

    /// The body from the method or the `body` property; its media type is added unless the endpoint sets one.
    private static func body(
        of method: HTTPMethod, and described: RequestBody?, encoder: JSONEncoder, fields: inout HeaderFields
    ) throws(AtomError) -> TransportBody? {
        guard method.body == nil || described == nil else {
            throw .refused(
                RequestableError.invalidBody, method.name,
                because: "there are two bodies, one in the method and one in body")
        }
        let body =
            if let described { try described.prepared(encoder: encoder) } else { method.body.map(TransportBody.data) }
        guard let body else { return nil }
        guard !["GET", "HEAD", "TRACE", "CONNECT"].contains(method.name) else {
            throw .refused(
                RequestableError.invalidMethod, method.name,
                because: "this method is sent without a body (RFC 9110 §9.3)")
        }
        if !fields.contains("Content-Type"), body.length != 0 || described != nil {
            let contentType = described?.contentType ?? method.contentType
            if let reason = HTTPGrammar.violation(inFieldValue: contentType) {
                throw .refused(RequestableError.invalidHeader, "Content-Type", because: reason)
            }
            fields.append(name: "Content-Type", value: contentType)
        }
        return body
    }
}

extension PreparedRequest: Redacted {
    /// Shows the method and the URL without the query values.
    var description: String { "\(method) \(target)" }
}
