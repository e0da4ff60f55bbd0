import Foundation

/// An endpoint's description after validation, with everything that is needed
/// to send it, also more than once.
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
    /// With the endpoint's header fields and the content type of the body; not
    /// yet signed.
    private(set) var message: RequestMessage
    /// The names of header items that are not sent, because the transport
    /// writes these fields itself.
    let omittedFields: [String]
    /// Whether the service's authentication method signs this.
    let requiresAuthorization: Bool
    let acceptableStatusCodes: ClosedRange<Int>
    let timeouts: RequestTimeouts
    /// Whether the app's signers may add to it.
    ///
    /// They add nothing to a link that somebody else has chosen.
    let takesSigners: Bool
    /// Whether an identical request in flight may be shared; only for a GET.
    let sharesIdenticalRequests: Bool
    /// What the endpoint says about sending the request again, if anything.
    let retrying: EndpointRetrying?
    /// The type of the endpoint, if somebody observes the request; `nil` for a
    /// request of the SDK itself.
    let endpoint: Any.Type?

    var method: String { message.method }
    var target: TargetURL { message.target }
    var headerFields: HeaderFields { message.headerFields }
    var body: TransportBody? { message.body }

    /// Reads every member of the endpoint once, in the caller's isolation.
    ///
    /// - Parameters:
    ///   - type: The type of the endpoint, if somebody wants to know it.
    ///   - defaultTimeouts: The service's timeouts, for an endpoint without its
    ///     own.
    ///   - encoder: The service's encoder, for a JSON body without its own.
    ///   - common: The service's header fields, if it has any.
    /// - Throws: ``AtomError/requestable(_:)``, or the error that a member of
    ///   the endpoint throws.
    init(
        _ requestable: any Requestable, of type: Any.Type? = nil,
        timeouts defaultTimeouts: Result<RequestTimeouts, AtomError>,
        encoder: JSONEncoder = JSONEncoder(), common: Result<CommonFields, AtomError>? = nil
    ) throws(AtomError) {
        try self.init(
            RequestDescription(of: requestable), of: type, timeouts: defaultTimeouts, encoder: encoder,
            common: common)
    }

    /// Checks what an endpoint has said, and adapters have changed.
    @inline(__always)
    init(
        _ endpoint: RequestDescription, of type: Any.Type?,
        timeouts defaultTimeouts: Result<RequestTimeouts, AtomError>, encoder: JSONEncoder,
        common: Result<CommonFields, AtomError>?, takesSigners: Bool = true
    ) throws(AtomError) {
        let target = try endpoint.target()
        let method = endpoint.method
        // The other methods are tokens.
        if case .token(let name, _) = method, !HTTPGrammar.isToken(name) {
            throw .requestable(
                .invalidMethod(.init(subject: method.name, reason: "a method is a token (RFC 9110 §9.1)")))
        }

        var omitted: [String] = []
        var fields = try Self.headerFields(endpoint.headerItems, omitting: &omitted)
        let common = try common?.get()
        // The bytes of a method have no media type of their own.
        if endpoint.body == nil, let common { common.add(to: &fields, where: { $0 == "content-type" }) }
        let body = try Self.body(of: method, and: endpoint.body, encoder: encoder, fields: &fields)
        if let common {
            common.add(to: &fields, where: { $0 != "authorization" || endpoint.requiresAuthorization })
            omitted += common.omitted
        }
        if let retrying = endpoint.retrying, retrying.idempotency == .byKey, !fields.contains(Idempotency.fieldName) {
            fields.append(name: Idempotency.fieldName, value: UUID().uuidString)
        }
        let ownAuthorization = fields.contains("Authorization")
        let timeouts =
            if let timeout = endpoint.timeout { try timeout.checked() } else { try defaultTimeouts.get() }
        // At once: a request that is made part by part is copied when it is complete.
        self.init(
            purpose: .service, method: method.name, target: target, headerFields: fields, omittedFields: omitted,
            body: body, requiresAuthorization: endpoint.requiresAuthorization && !ownAuthorization,
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
            purpose: purpose, method: method, target: target, headerFields: headerFields, omittedFields: [],
            body: body, requiresAuthorization: false, acceptableStatusCodes: acceptableStatusCodes,
            timeouts: RequestTimeouts(idle: timeout, total: timeout), takesSigners: false,
            sharesIdenticalRequests: false, retrying: nil, endpoint: nil)
    }

    private init(
        purpose: Purpose, method: String, target: TargetURL, headerFields: HeaderFields, omittedFields: [String],
        body: TransportBody?, requiresAuthorization: Bool, acceptableStatusCodes: ClosedRange<Int>,
        timeouts: RequestTimeouts, takesSigners: Bool, sharesIdenticalRequests: Bool,
        retrying: EndpointRetrying?, endpoint: Any.Type?
    ) {
        self.purpose = purpose
        message = RequestMessage(method: method, target: target, headerFields: headerFields, body: body)
        self.omittedFields = omittedFields
        self.requiresAuthorization = requiresAuthorization
        self.acceptableStatusCodes = acceptableStatusCodes
        self.timeouts = timeouts
        self.takesSigners = takesSigners
        self.sharesIdenticalRequests = sharesIdenticalRequests
        self.retrying = retrying
        self.endpoint = endpoint
    }

    /// The same request with a policy of its own.
    ///
    /// The property is constant: requests would be copied if it were variable.
    func following(_ retryPolicy: RetryPolicy) -> PreparedRequest {
        PreparedRequest(
            purpose: purpose, method: method, target: target, headerFields: headerFields,
            omittedFields: omittedFields, body: body, requiresAuthorization: requiresAuthorization,
            acceptableStatusCodes: acceptableStatusCodes, timeouts: timeouts, takesSigners: takesSigners,
            sharesIdenticalRequests: sharesIdenticalRequests,
            retrying: EndpointRetrying.of(retryPolicy, retrying?.idempotency), endpoint: endpoint)
    }

    /// Adds a field of the SDK's, unless the endpoint has set it.
    mutating func add(_ name: String, _ value: String) {
        if !headerFields.contains(name) { message.headerFields.append(name: name, value: value) }
    }

    /// The header fields that a service adds to its requests.
    struct CommonFields: Sendable {
        fileprivate let fields: HeaderFields
        /// In lower case, in the order of the fields.
        private let names: [String]
        fileprivate let omitted: [String]

        init(_ items: [HeaderItem]) throws(AtomError) {
            var omitted: [String] = []
            fields = try PreparedRequest.headerFields(items, omitting: &omitted)
            names = fields.map { $0.name.lowercased() }
            self.omitted = omitted
        }

        /// Only the fields that can't be a secret, for an origin that somebody
        /// else has chosen.
        var harmless: CommonFields {
            CommonFields(fields.filter { HTTPGrammar.isHarmlessFieldName($0.name) }, omitted: omitted)
        }

        private init(_ fields: [HeaderItem], omitted: [String]) {
            self.fields = HeaderFields(fields)
            names = fields.map { $0.name.lowercased() }
            self.omitted = omitted
        }

        /// Adds the fields that the request doesn't have.
        fileprivate func add(to request: inout HeaderFields, where isWanted: (String) -> Bool) {
            let own = request
            for (name, field) in zip(names, fields) where isWanted(name) && !own.contains(name) {
                request.append(name: field.name, value: field.value)
            }
        }
    }

    fileprivate static func headerFields(
        _ items: [HeaderItem], omitting omitted: inout [String]
    ) throws(AtomError) -> HeaderFields {
        var fields = HeaderFields()
        // Without items nothing is allocated here: the credential is added
        // later, to a copy.
        if !items.isEmpty { fields.reserveCapacity(items.count + 2) }
        for item in items {
            try HTTPGrammar.checkField(item.name, item.value)
            // The app's values in these fields are either redundant or would
            // break the message.
            if HTTPGrammar.isReservedFieldName(item.name) {
                omitted.append(item.name)
            } else {
                fields.append(name: item.name, value: item.value)
            }
        }
        return fields
    }

    /// The body from the method or the `body` property.
    ///
    /// Its media type is added unless the endpoint sets one.
    private static func body(
        of method: HTTPMethod, and described: RequestBody?, encoder: JSONEncoder, fields: inout HeaderFields
    ) throws(AtomError) -> TransportBody? {
        guard method.body == nil || described == nil else {
            throw .requestable(
                .invalidBody(
                    .init(subject: method.name, reason: "there are two bodies, one in the method and one in body")))
        }
        let body =
            if let described { try described.prepared(encoder: encoder) } else { method.body.map(TransportBody.data) }
        guard let body else { return nil }
        guard !["GET", "HEAD", "TRACE", "CONNECT"].contains(method.name) else {
            throw .requestable(
                .invalidMethod(
                    .init(subject: method.name, reason: "this method is sent without a body (RFC 9110 §9.3)")))
        }
        if !fields.contains("Content-Type"), body.length != 0 || described != nil {
            let contentType = described?.contentType ?? method.contentType
            if let reason = HTTPGrammar.violation(inFieldValue: contentType) {
                throw .requestable(.invalidHeader(.init(subject: "Content-Type", reason: reason)))
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
