import Foundation

/// An event of the server.
///
/// Tokens appear only as numbers, in the order of issue.
public struct ServerEvent: Sendable, Codable, Hashable {
    /// What kind of event it is.
    public let kind: Kind
    /// The position in the log, from 1.
    public let number: Int
    /// When it started, in seconds of the server's clock.
    public let startedAt: TimeInterval
    /// When it ended: for a request, when its response was ready.
    public let endedAt: TimeInterval
    /// The request's position in the order of arrival, from 1.
    public var arrival: Int?
    /// The request's method.
    public var method: String?
    /// The request's path, without its query.
    public var path: String?
    /// The status of the response; `nil` if none was sent.
    public var status: Int?
    /// The value of the `X-Request-ID` header.
    public var requestID: String?
    /// The number of the access token that the request carried or that was
    /// issued.
    public var token: Int?
    /// More information for users.
    public var detail: String?

    /// What kind of event it is.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A request was answered, or its response was lost on purpose.
        case request
        /// A family was started and its first tokens were issued.
        case signedIn
        /// A refresh token was used for the first time.
        case refreshed
        /// A refresh token was used again within the grace period.
        case refreshRepeated
        /// A used refresh token was sent again too late.
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
