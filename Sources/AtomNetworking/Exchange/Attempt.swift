/// One attempt of a request: the first, or one after a redirect.
struct Attempt: Sendable {
    var message: RequestMessage
    var redirects = 0
    /// The first attempt, if a redirect has led away from it.
    private(set) var first: FirstAttempt?
    /// Whether a redirect has led to an origin that the endpoint did not name;
    /// from then on nothing is signed, and no cookies are sent.
    var hasLeftOrigin = false

    init(_ request: consuming PreparedRequest) {
        message = request.message
    }

    /// What was asked for; `nil` for a GET of the target.
    var asked: FirstAttempt? {
        first ?? (method == "GET" ? nil : FirstAttempt(method: method, address: target.absoluteString))
    }

    var method: String { message.method }
    var target: TargetURL { message.target }
    /// Without a credential or cookies of the SDK's.
    var headerFields: HeaderFields { message.headerFields }
    var body: TransportBody? { message.body }
}

extension Attempt {
    /// What follows a response (RFC 9110 §15.4).
    enum Continuation {
        /// Nothing: the caller gets the response.
        case none
        /// Another attempt.
        case redirected(Attempt)
        /// The server has redirected more often than is allowed.
        case tooManyRedirects
    }

    /// What follows, by the status, the `Location` field and the limit of redirects.
    func following(_ response: TransportResponse, limit: Int?) -> Continuation {
        guard let limit, [301, 302, 303, 307, 308].contains(response.statusCode),
            let location = response.headerFields["Location"], let next = target.resolving(location: location),
            !(target.scheme == .https && next.scheme == .http)
        else { return .none }
        guard redirects < limit else { return .tooManyRedirects }

        var attempt = self
        attempt.redirects += 1
        attempt.first = asked ?? FirstAttempt(method: method, address: target.absoluteString)
        attempt.message.target = next
        switch (response.statusCode, method) {
        case (303, "GET"), (303, "HEAD"): break
        case (303, _), (301, "POST"), (302, "POST"): attempt.becomeGet()
        default: break
        }
        if next.origin != target.origin { attempt.leaveOrigin() }
        return .redirected(attempt)
    }

    /// The request for the transport.
    ///
    /// - Parameters:
    ///   - own: The SDK's own fields, in place of the app's with these names.
    ///   - signed: All header fields, if the app's signers have added to them.
    func transportRequest(
        own: [HeaderItem] = [], authorization: String?, cookie: String?, replacedBy signed: HeaderFields? = nil,
        idleTimeout: Duration, needsFreshConnection: Bool, wantsMetrics: Bool = false, number: Int
    ) -> TransportRequest {
        var fields = signed ?? headerFields
        if signed == nil {
            for field in own { fields[field.name] = field.value }
            if let authorization { fields.append(name: "Authorization", value: authorization) }
            if let cookie { fields.append(name: "Cookie", value: cookie) }
        }
        return TransportRequest(
            message, headerFields: fields, idleTimeout: idleTimeout,
            needsFreshConnection: needsFreshConnection, wantsMetrics: wantsMetrics, attempt: number)
    }

    /// Drops the body and the header fields that describe it.
    private mutating func becomeGet() {
        message.method = "GET"
        message.body = nil
        let others = ["digest", "expect", "last-modified", "repr-digest"]
        message.headerFields.removeAll { field in
            let name = field.name.lowercased()
            return name.hasPrefix("content-") || others.contains(name)
        }
    }

    /// Drops every header field of the app's that may be a secret.
    private mutating func leaveOrigin() {
        hasLeftOrigin = true
        message.headerFields.removeAll { !HTTPGrammar.isHarmlessFieldName($0.name) }
    }
}

extension Attempt: Redacted {
    /// Method and URL without the values of the query.
    var description: String { "\(method) \(target)" }
}
