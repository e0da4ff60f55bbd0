import Foundation

/// Something that the server saw or did.
///
/// Tokens appear as numbers, counted in the order of issue, never as they are.
public struct ServerEvent: Sendable, Codable, Hashable {
    /// What kind of event it is.
    public let kind: Kind
    /// The place in the log, from 1.
    public let number: Int
    /// When it began, in seconds of the server's clock.
    public let startedAt: TimeInterval
    /// When it was over: for a request, when its answer was ready.
    public let endedAt: TimeInterval
    /// The request's place in the order of arrival, from 1.
    public var arrival: Int?
    /// The request's method.
    public var method: String?
    /// The request's path, without its query.
    public var path: String?
    /// The status of the answer; `nil` if none was sent.
    public var status: Int?
    /// What the client put into the `X-Request-ID` header.
    public var requestID: String?
    /// The number of the access token that came with the request, or that was issued.
    public var token: Int?
    /// More, for people.
    public var detail: String?

    /// What kind of event it is.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A request was answered, or its answer lost on purpose.
        case request
        /// A family was begun and its first tokens issued.
        case signedIn
        /// A refresh token was used for the first time.
        case refreshed
        /// A refresh token was used again within the grace period.
        case refreshRepeated
        /// A used refresh token came back too late.
        case reuseDetected
        /// A whole family was revoked.
        case familyRevoked
        /// One access token was revoked by its client.
        case accessTokenRevoked
        /// All access tokens expired on request.
        case accessTokensExpired
        /// All access tokens were revoked on request.
        case accessTokensRevoked
    }
}
