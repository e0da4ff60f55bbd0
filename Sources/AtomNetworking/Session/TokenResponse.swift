import Foundation

/// What a token endpoint's answer means (RFC 6749 §5), as a pure function.
///
/// It tolerates wrong types and status codes, which servers do send. It refuses what would be sent on: a token that
/// can't stand in a header field, or that is not a bearer token.
enum TokenResponse {
    /// A new credential and the lifetime of its access token in seconds,
    /// counted from when the request was sent; `nil` if the server didn't say.
    case granted(TokenCredential, lifetime: Double?)

    /// The refresh token is dead.
    case rejected(OAuthError)

    /// Anything else: another attempt may succeed, with the new refresh token if the answer has one.
    case failed(any Error, retryAfter: Duration?, refreshToken: String? = nil)

    /// - Parameters:
    ///   - old: The credential whose refresh token was sent; it supplies what the answer leaves out (RFC 6749 §6). `nil`
    ///     if no refresh token was sent: then none is kept either (§4.4.3).
    ///   - codes: Those that end the session beside `invalid_grant`.
    ///   - types: Those of tokens that are sent as bearer tokens beside `Bearer`.
    ///   - proof: What the token is bound to; `nil` for a bearer token.
    init(
        _ response: AtomResponse, replacing old: TokenCredential?, clientSecret: String? = nil,
        parameters: [QueryItem] = [], endedBy codes: Set<String> = [], types: Set<String> = [],
        proof: (any TokenProof)? = nil, sentAt: Date
    ) {
        let serverDate = response.headerFields["Date"].flatMap { HTTPDate.date($0) }
        let members = (try? JSONSerialization.jsonObject(with: response.data)) as? [String: Any]
        let status = response.statusCode ?? 0
        let retryAfter = RetryAfter.duration(in: response.headerFields, now: sentAt)

        if let code = members?["error"] as? String, !code.isEmpty {
            // Some servers repeat the refresh token that they refuse.
            let secrets =
                [old?.refreshToken, old?.accessToken, old?.idToken, clientSecret].compactMap { $0 }
                + parameters.filter { CredentialName.isOne($0.name) }.map(\.value)
            let text = { (value: Any) in (value as? String).map { Redaction.withoutTokens($0, secrets: secrets) } }
            let endsSession = code == OAuthError.deadRefreshToken || codes.contains(code)
            // A code that is registered, or that the app names, is no secret, even if a token is a letter of it.
            let isKnown = endsSession || OAuthError.registeredCodes.contains(code)
            let error = OAuthError(
                code: isKnown ? code : Redaction.withoutTokens(code, secrets: secrets),
                explanation: members?["error_description"].flatMap(text),
                uri: members?["error_uri"].flatMap(text),
                response: response)
            self =
                endsSession && old != nil && (200...499).contains(status)
                ? .rejected(error)
                : .failed(error, retryAfter: retryAfter)
            return
        }
        guard response.isSuccess else {
            self = .failed(AtomError.response(response), retryAfter: retryAfter)
            return
        }
        do throws(TokenResponseError) {
            guard let members else { throw TokenResponseError("The token endpoint's answer is not a JSON object.") }
            self = try Self.granted(
                members, replacing: old, types: types, proof: proof, sentAt: sentAt, serverDate: serverDate)
        } catch {
            // The refresh token that was sent is spent nevertheless.
            let replaced = old.flatMap { _ in members.flatMap(Self.newRefreshToken) }
            self = .failed(error, retryAfter: nil, refreshToken: replaced)
        }
    }

    /// The same answer; an error has its request.
    func about(_ response: AtomResponse, until now: MonotonicInstant) -> TokenResponse {
        guard case .failed(var cause, let retryAfter, let refreshToken) = self else { return self }
        if let error = cause as? AtomError {
            cause = error.about(response, until: now)
        } else if let error = cause as? TokenResponseError, let request = response.request(until: now) {
            cause = TokenResponseError(request.naming(error.description))
        }
        return .failed(cause, retryAfter: retryAfter, refreshToken: refreshToken)
    }

    private static func newRefreshToken(_ members: [String: Any]) -> String? {
        (members["refresh_token"] as? String).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func granted(
        _ members: [String: Any], replacing old: TokenCredential?, types: Set<String>, proof: (any TokenProof)?,
        sentAt: Date, serverDate: Date?
    ) throws(TokenResponseError) -> TokenResponse {
        guard let accessToken = members["access_token"] as? String, !accessToken.isEmpty else {
            throw TokenResponseError("The token endpoint's answer has no access_token.")
        }
        guard HeldCredential.canBeSent(accessToken) else { throw TokenResponseError.unsendable }
        let tokenType = (members["token_type"] as? String)?.trimmingCharacters(in: .whitespacesAndNewlines)
        if proof != nil {
            // A bearer token in its place could be used by whoever steals it (RFC 9449 §5).
            guard tokenType?.lowercased() == TokenCredential.boundType.lowercased() else {
                throw TokenResponseError(
                    "The token endpoint issued a token of another type than \(TokenCredential.boundType), which isn't "
                        + "bound to the key of BearerAuthentication.proof.")
            }
        } else if let tokenType, !Self.isBearer(tokenType, or: types) {
            throw TokenResponseError(
                "The token endpoint issued a token of another type than Bearer (RFC 6749 §7.1). If it is sent as one, "
                    + "name its type in BearerAuthentication.tokenTypes.")
        }
        let refreshToken = old.map { newRefreshToken(members) ?? $0.refreshToken }
        let lifetime = lifetime(members, sentAt: sentAt, serverDate: serverDate)
        return .granted(
            TokenCredential(
                accessToken: accessToken,
                expiresAt: lifetime.map { sentAt.addingTimeInterval($0) } ?? .distantFuture,
                refreshToken: refreshToken ?? "",
                scope: members["scope"] as? String ?? (members["scope"] as? [String])?.joined(separator: " ")
                    ?? old?.scope,
                tokenType: tokenType.flatMap { $0.isEmpty ? nil : $0 } ?? old?.tokenType,
                idToken: members["id_token"] as? String ?? old?.idToken, keyThumbprint: proof?.keyThumbprint),
            lifetime: lifetime)
    }

    /// Whether a token type is `Bearer` (RFC 6750 §6.1.1) in any case (RFC 6749 §5.1), or as servers spell it: Apigee
    /// sends `BearerToken`, and the app names others.
    private static func isBearer(_ type: String, or types: Set<String>) -> Bool {
        let type = type.lowercased()
        return ["", "bearer", "bearertoken"].contains(type) || types.contains { $0.lowercased() == type }
    }

    /// `expires_in`, or `expires_at` by the server's clock, so that a wrong clock on the device does no harm.
    ///
    /// A lifetime that can't be read is ignored: to refuse the answer would
    /// lose a refresh token that has replaced the old one.
    private static func lifetime(_ members: [String: Any], sentAt: Date, serverDate: Date?) -> Double? {
        if let seconds = number(members["expires_in"]) { return meant(seconds) }
        let expiresAt = members["expires_at"]
        let reference = serverDate ?? sentAt
        if let time = number(expiresAt) {
            let seconds = time > LooseTime.firstInMilliseconds ? time / 1_000 : time
            return meant(seconds - reference.timeIntervalSince1970)
        }
        return (expiresAt as? String).flatMap { LooseTime.date(iso8601: $0) }
            .flatMap { meant($0.timeIntervalSince(reference)) }
    }

    private static func number(_ value: Any?) -> Double? {
        let number: Double? =
            switch value {
            case let text as String: Double(text.trimmingCharacters(in: .whitespaces))
            // Not `true` and `false`; a cast to `Bool` would take 0 and 1 as well.
            case let number as NSNumber where String(cString: number.objCType) != "c": number.doubleValue
            default: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// A token that has just been issued isn't over: by that some servers mean that it lasts for ever, and others that
    /// its last second has begun.
    private static func meant(_ seconds: Double) -> Double? {
        seconds > 0 ? min(seconds, Duration.century.seconds) : nil
    }
}
