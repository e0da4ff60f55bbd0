import AtomNetworking
import AtomNetworkingSignIn
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a ``ScriptedAuthorizationServer`` knows, under its lock.
struct AuthorizationServerState: Sendable {
    /// What goes wrong with a refresh.
    enum Fault: Sendable {
        case refusal
        case unavailable(status: Int, retryAfter: Int?)
        case lostAnswer
        case delay(Duration)
    }

    /// When something happens, by both clocks.
    struct Moment: Sendable {
        let instant: MonotonicInstant
        let date: Date

        init(_ clock: ManualClock) { (instant, date) = (clock.now, clock.date) }
    }

    /// One sign-in, with all of its tokens.
    struct Session: Sendable {
        /// Whose the tokens are; `nil` for any client's.
        var clientID: String?
        var scopes: [String] = []
        var subject = ""
        /// The key that the tokens are bound to.
        var thumbprint: String?
        var isOver = false
    }

    private struct AccessToken {
        let session: Int
        let expiresAt: MonotonicInstant
        var isRevoked = false
    }

    private struct RefreshToken {
        let session: Int
        var isSpent = false
    }

    private struct Code {
        let request: SignInRequest
        let subject: String
        let expiresAt: MonotonicInstant
        var isPresented = false
        var session: Int?
    }

    private struct PushedRequest {
        let parameters: [String: String]
        let expiresAt: MonotonicInstant
    }

    static let issuer = "https://authorization.test"
    /// An app, which can't keep a secret.
    static let publicClient = "app"
    /// A client with a secret.
    static let confidentialClient = "client"

    var isInUse = false
    var demandsProofs = false
    var lifetime: Duration = .seconds(3_600)
    var subject = "ada"
    var counts = ScriptedAuthorizationServer.Counts()
    var requests: [RecordedRequest] = []
    var faults = Ordered<Fault>()
    var gate: ReleaseGate?
    var pageGate: ReleaseGate?
    var endings = Ordered<ScriptedBrowser.Ending>()
    /// The scopes that tokens need, by the patterns of paths.
    var neededScopes: [(path: String, scope: String)] = []

    private var sessions: [Session] = []
    private var tokens = 0
    private var accessTokens: [String: AccessToken] = [:]
    private var refreshTokens: [String: RefreshToken] = [:]
    private var codes: [String: Code] = [:]
    private var pushed: [String: PushedRequest] = [:]
    private var devices: [String: DeviceSignIn] = [:]
    private var nonces = 1
    private var tokenProofs = ProofLedger(nonce: "nonce-1")
    private var serviceProofs = ProofLedger()

    mutating func renewNonces() {
        nonces += 1
        (tokenProofs.nonce, serviceProofs.nonce) = ("nonce-\(nonces)", "service-nonce-\(nonces)")
    }

    /// Lets the person decide about the sign-ins on other devices that wait.
    mutating func decideDevices(_ isApproved: Bool) {
        for (code, device) in devices where device.isApproved == nil { devices[code]?.isApproved = isApproved }
    }
}

// MARK: - Tokens

extension AuthorizationServerState {
    /// Begins a session, and returns its number.
    mutating func begin(_ session: Session) -> Int {
        sessions.append(session)
        return sessions.count - 1
    }

    mutating func issue(for session: Int, at now: MonotonicInstant) -> (access: String, refresh: String) {
        tokens += 1
        let (access, refresh) = ("A\(tokens)", "R\(tokens)")
        accessTokens[access] = AccessToken(session: session, expiresAt: now.advanced(by: lifetime))
        refreshTokens[refresh] = RefreshToken(session: session)
        return (access, refresh)
    }

    mutating func revokeAccessTokens() {
        for token in accessTokens.keys { accessTokens[token]?.isRevoked = true }
    }

    mutating func endSessions() {
        for session in sessions.indices { sessions[session].isOver = true }
    }

    /// Checks the access token of a request to the service; `nil` if nothing is wrong with it.
    mutating func refusal(of request: RecordedRequest, at now: MonotonicInstant) -> ScriptedResponse? {
        let parts = (request["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
        let scheme = ["Bearer", "DPoP"].first { $0.lowercased() == parts.first?.lowercased() }
        guard isInUse, parts.count == 2, let scheme else { return nil }
        let token = String(parts[1])
        guard let known = accessTokens[token] else {
            counts.unknown += 1
            return .unauthorized()
        }
        let session = sessions[known.session]
        guard !known.isRevoked, !session.isOver, now < known.expiresAt else {
            counts.dead += 1
            return .unauthorized()
        }
        do throws(ProofLedger.Problem) {
            // A stolen token that is bound must not pass as a bearer token (RFC 9449 §7.2).
            guard (scheme == "DPoP") == (session.thumbprint != nil) else { throw .invalid("the scheme is \(scheme)") }
            if let thumbprint = session.thumbprint {
                guard try serviceProofs.check(request, token: token) == thumbprint else {
                    throw .invalid("another key")
                }
            }
        } catch {
            switch error {
            case .needsNonce(let nonce):
                return .unauthorized(challenge: #"DPoP error="use_dpop_nonce""#, headerItems: ["DPoP-Nonce": nonce])
            case .invalid(let reason):
                counts.proofsRefused += 1
                return .unauthorized(
                    challenge: #"DPoP error="invalid_dpop_proof", error_description="\#(reason)", algs="ES256""#)
            }
        }
        counts.accepted += 1
        let needed = neededScopes.filter { RequestMatcher.matches(request.path, pattern: $0.path) }.map(\.scope)
        guard !needed.allSatisfy(session.scopes.contains) else { return nil }
        counts.scopesRefused += 1
        let challenge = #"\#(scheme) error="insufficient_scope", scope="\#(needed.joined(separator: " "))""#
        return .status(403, headerItems: ["WWW-Authenticate": challenge])
    }
}

// MARK: - Pages

extension AuthorizationServerState {
    /// Checks an authorization request, and sends the browser back (RFC 6749 §4.1.1, §4.1.2).
    ///
    /// - Throws: A `ScriptProblem` where the server must not send it back (§4.1.2.1).
    mutating func endPage(_ page: URL, redirectURI: String, at moment: Moment) throws -> URL {
        let parts = page.absoluteString.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, parts[0] == Self.issuer + "/authorize" else {
            throw ScriptProblem("The page isn't one of \(Self.issuer)/authorize.")
        }
        let items = FormText.items(of: parts[1])
        guard var parameters = try? SignInRequest.parameters(of: items) else {
            throw ScriptProblem("The authorization request has a parameter twice.")
        }
        if let uri = parameters["request_uri"] {
            guard let pushed = pushed.removeValue(forKey: uri), moment.instant < pushed.expiresAt,
                pushed.parameters["client_id"] == parameters["client_id"]
            else { throw ScriptProblem("The pushed authorization request isn't known, or it has expired.") }
            parameters = pushed.parameters
        }
        guard Self.publicClient == parameters["client_id"] || Self.confidentialClient == parameters["client_id"] else {
            throw ScriptProblem("The authorization request is of an unknown client.")
        }
        guard parameters["redirect_uri"] == redirectURI else {
            throw ScriptProblem("The authorization request is for another redirect URI than \(redirectURI).")
        }
        let ending = endings.next() ?? .approved
        if ending == .closed { throw SignInError.declined }

        var (target, state, issuer) = (redirectURI, parameters["state"], String?.some(Self.issuer))
        var answer: [QueryItem]
        do throws(OAuthRefusal) {
            var request = try SignInRequest(parameters)
            switch ending {
            case .approved, .closed: break
            case .declined: throw OAuthRefusal("access_denied")
            case .error(let code): throw OAuthRefusal(code)
            case .state(let other): state = other
            case .issuer(let other): issuer = other
            case .redirectURI(let other): target = other
            case .stolenCode: request.challenge = JSONWebToken.digest("of another request")
            }
            counts.codesIssued += 1
            let code = "C\(counts.codesIssued)"
            // Ten minutes are the most (§4.1.2).
            codes[code] = Code(
                request: request, subject: subject, expiresAt: moment.instant.advanced(by: .seconds(60)))
            answer = [QueryItem(name: "code", value: code)]
        } catch {
            answer = error.items
        }
        if let state { answer.append(QueryItem(name: "state", value: state)) }
        if let issuer { answer.append(QueryItem(name: "iss", value: issuer)) }
        let text = target + (target.contains("?") ? "&" : "?") + PercentEncoding.query(answer)
        guard let url = URL(string: text) else { throw ScriptProblem("The redirect URI is no URL.") }
        return url
    }
}

// MARK: - Answering

extension AuthorizationServerState {
    mutating func answer(_ request: RecordedRequest, at moment: Moment) -> ScriptedResponse {
        requests.append(request)
        do throws(OAuthRefusal) {
            switch request.path {
            case "/token":
                return try answerTokenRequest(request, at: moment)
            case "/revoke":
                counts.revocations += 1
                let token = request.form("token") ?? ""
                if let session = refreshTokens[token]?.session ?? accessTokens[token]?.session {
                    sessions[session].isOver = true
                }
                return .status(200)
            case "/par":
                return try push(request, at: moment.instant)
            case "/device":
                return try beginDeviceSignIn(request, at: moment.instant)
            case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration":
                return .json(text: Self.metadata, headerItems: ["Cache-Control": "max-age=3600"])
            default:
                return .status(404)
            }
        } catch {
            return error.response
        }
    }

    /// RFC 8414 §2, OpenID Connect Discovery §3.
    private static let metadata = """
        {
          "issuer": "\(issuer)",
          "authorization_endpoint": "\(issuer)/authorize",
          "token_endpoint": "\(issuer)/token",
          "revocation_endpoint": "\(issuer)/revoke",
          "pushed_authorization_request_endpoint": "\(issuer)/par",
          "device_authorization_endpoint": "\(issuer)/device",
          "jwks_uri": "\(issuer)/keys",
          "response_types_supported": ["code"],
          "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", "\(deviceGrant)"],
          "subject_types_supported": ["public"],
          "id_token_signing_alg_values_supported": ["ES256"],
          "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
          "code_challenge_methods_supported": ["S256"],
          "dpop_signing_alg_values_supported": ["ES256"],
          "authorization_response_iss_parameter_supported": true
        }
        """

    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// RFC 9126 §2.
    private mutating func push(
        _ request: RecordedRequest, at now: MonotonicInstant
    ) throws(OAuthRefusal) -> ScriptedResponse {
        counts.pushedRequests += 1
        let clientID = try Self.client(of: request)
        var parameters = try SignInRequest.parameters(of: request.formItems)
        parameters["client_id"] = clientID
        guard parameters["request_uri"] == nil else { throw OAuthRefusal("invalid_request", "request_uri is there") }
        _ = try SignInRequest(parameters)
        let uri = "urn:ietf:params:oauth:request_uri:\(counts.pushedRequests)"
        pushed[uri] = PushedRequest(parameters: parameters, expiresAt: now.advanced(by: .seconds(60)))
        return .json(text: #"{"request_uri":"\#(uri)","expires_in":60}"#, status: 201)
    }

    /// RFC 8628 §3.1, §3.2.
    private mutating func beginDeviceSignIn(
        _ request: RecordedRequest, at now: MonotonicInstant
    ) throws(OAuthRefusal) -> ScriptedResponse {
        counts.deviceRequests += 1
        let device = DeviceSignIn(
            clientID: try Self.client(of: request), scopes: SignInRequest.scopes(request.form("scope")), at: now)
        let number = counts.deviceRequests
        devices["D\(number)"] = device
        return .json(
            text: """
                {
                  "device_code": "D\(number)", "user_code": "CODE-\(number)",
                  "verification_uri": "\(Self.issuer)/activate",
                  "verification_uri_complete": "\(Self.issuer)/activate?user_code=CODE-\(number)",
                  "expires_in": \(DeviceSignIn.lifetime.components.seconds), "interval": \(device.interval.components.seconds)
                }
                """)
    }

    private mutating func answerTokenRequest(
        _ request: RecordedRequest, at moment: Moment
    ) throws(OAuthRefusal) -> ScriptedResponse {
        if ["authorization_code", Self.deviceGrant].contains(request.form("grant_type")) {
            return try grant(request, at: moment)
        }
        counts.refreshes += 1
        let answer: ScriptedResponse
        switch faults.next() {
        case .unavailable(let status, let retryAfter):
            answer = .status(status, headerItems: retryAfter.map { ["Retry-After": "\($0)"] } ?? [])
        case .refusal:
            counts.refusals += 1
            answer = OAuthRefusal("invalid_grant").response
        case .lostAnswer:
            _ = granted(request, at: moment)
            answer = .failure(.networkConnectionLost)
        case .delay(let duration):
            answer = .delayed(duration, granted(request, at: moment))
        case nil:
            answer = granted(request, at: moment)
        }
        return gate.map { ScriptedResponse(.gated($0, answer), name: "held") } ?? answer
    }

    private mutating func granted(_ request: RecordedRequest, at moment: Moment) -> ScriptedResponse {
        do { return try grant(request, at: moment) } catch { return error.response }
    }

    private mutating func grant(
        _ request: RecordedRequest, at moment: Moment
    ) throws(OAuthRefusal) -> ScriptedResponse {
        let clientID = try Self.client(of: request)
        // Before a grant is used up: the request comes again with the nonce.
        let thumbprint = demandsProofs ? try proof(of: request) : nil
        let session: Int
        var nonce: String?
        var isForClient = false
        switch request.form("grant_type") {
        case "client_credentials":
            isForClient = true
            session = begin(
                Session(clientID: clientID, scopes: SignInRequest.scopes(request.form("scope")), thumbprint: thumbprint)
            )
        case "refresh_token":
            session = try refresh(request, of: clientID, thumbprint)
        case "authorization_code":
            (session, nonce) = try redeemCode(request, of: clientID, thumbprint, at: moment.instant)
        case Self.deviceGrant:
            session = try redeemDeviceCode(request, of: clientID, thumbprint, at: moment.instant)
        default:
            throw OAuthRefusal("unsupported_grant_type")
        }
        counts.tokensIssued += 1
        let (access, refresh) = issue(for: session, at: moment.instant)
        let scopes = sessions[session].scopes
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return .json(
            TokenAnswer(
                accessToken: access, tokenType: thumbprint == nil ? "Bearer" : "DPoP",
                expiresIn: lifetime / .seconds(1), refreshToken: isForClient ? nil : refresh,
                scope: scopes.isEmpty ? nil : scopes.joined(separator: " "),
                idToken: scopes.contains("openid") ? idToken(session, of: clientID, nonce, at: moment.date) : nil),
            encoder: encoder)
    }

    /// RFC 6749 §5.1, OpenID Connect Core §3.1.3.3.
    private struct TokenAnswer: Encodable {
        let accessToken: String, tokenType: String
        let expiresIn: Double
        let refreshToken: String?
        let scope: String?
        let idToken: String?
    }

    /// OpenID Connect Core §2.
    private struct Claims: Encodable {
        let iss: String, sub: String, aud: String
        let exp: Int64, iat: Int64
        let nonce: String?
    }

    private func idToken(_ session: Int, of clientID: String, _ nonce: String?, at date: Date) -> String {
        let now = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
        return JSONWebToken.text(
            Claims(
                iss: Self.issuer, sub: sessions[session].subject, aud: clientID, exp: now + 300, iat: now, nonce: nonce)
        )
    }

    /// The client that has authenticated, in the body or with Basic (RFC 6749 §2.3.1), or that has no secret.
    private static func client(of request: RecordedRequest) throws(OAuthRefusal) -> String {
        if let authorization = request["Authorization"] {
            let secret = Data("\(confidentialClient):secret".utf8).base64EncodedString()
            if authorization == "Basic " + secret { return confidentialClient }
        } else {
            switch (request.form("client_id"), request.form("client_secret")) {
            case (publicClient?, nil): return publicClient
            case (confidentialClient?, "secret"?): return confidentialClient
            default: break
            }
        }
        throw OAuthRefusal("invalid_client", status: 401)
    }

    /// The thumbprint of the key that a token request proves (RFC 9449 §5).
    private mutating func proof(of request: RecordedRequest) throws(OAuthRefusal) -> String {
        do throws(ProofLedger.Problem) {
            return try tokenProofs.check(request)
        } catch {
            switch error {
            case .needsNonce(let nonce): throw OAuthRefusal("use_dpop_nonce", nonce: nonce)
            case .invalid(let reason):
                counts.proofsRefused += 1
                throw OAuthRefusal("invalid_dpop_proof", reason)
            }
        }
    }

    private mutating func refresh(
        _ request: RecordedRequest, of clientID: String, _ thumbprint: String?
    ) throws(OAuthRefusal) -> Int {
        let presented = request.form("refresh_token") ?? ""
        guard let token = refreshTokens[presented], !sessions[token.session].isOver,
            sessions[token.session].clientID.map({ $0 == clientID }) ?? true,
            sessions[token.session].thumbprint.map({ $0 == thumbprint }) ?? true
        else {
            counts.refusals += 1
            throw OAuthRefusal("invalid_grant")
        }
        guard !token.isSpent else {
            counts.reuses += 1
            sessions[token.session].isOver = true
            throw OAuthRefusal("invalid_grant", "reused")
        }
        refreshTokens[presented]?.isSpent = true
        return token.session
    }

    /// RFC 6749 §4.1.3, RFC 7636 §4.6.
    private mutating func redeemCode(
        _ request: RecordedRequest, of clientID: String, _ thumbprint: String?, at now: MonotonicInstant
    ) throws(OAuthRefusal) -> (session: Int, nonce: String?) {
        let presented = request.form("code") ?? ""
        let code = codes[presented]
        codes[presented]?.isPresented = true
        if let session = code?.session { sessions[session].isOver = true }
        guard let code, !code.isPresented, now < code.expiresAt, code.request.clientID == clientID,
            code.request.redirectURI == request.form("redirect_uri"),
            code.request.isProved(by: request.form("code_verifier") ?? ""),
            code.request.thumbprint.map({ $0 == thumbprint }) ?? true
        else {
            counts.codesRefused += 1
            throw OAuthRefusal("invalid_grant")
        }
        let session = begin(
            Session(
                clientID: clientID, scopes: code.request.scopes, subject: code.subject, thumbprint: thumbprint))
        codes[presented]?.session = session
        return (session, code.request.nonce)
    }

    private mutating func redeemDeviceCode(
        _ request: RecordedRequest, of clientID: String, _ thumbprint: String?, at now: MonotonicInstant
    ) throws(OAuthRefusal) -> Int {
        let presented = request.form("device_code") ?? ""
        guard let device = devices[presented], device.clientID == clientID else { throw OAuthRefusal("invalid_grant") }
        try devices[presented]?.poll(at: now)
        devices[presented] = nil
        return begin(
            Session(clientID: clientID, scopes: device.scopes, subject: subject, thumbprint: thumbprint))
    }
}
