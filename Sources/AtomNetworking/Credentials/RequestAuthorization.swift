/// What signs a request that the app sends by other means than this SDK: a web socket, a web view, an image loader.
///
/// ``Atom/authorization(for:)`` returns it. Ask for it anew for each request: the session may have another token by
/// then. A server takes a token of the type `DPoP` only with a proof, which only the SDK's own requests have. It holds a
/// credential, so no description shows its content.
public struct RequestAuthorization: Sendable {
    /// The access token of the session; `nil` for a service with Basic authentication.
    public let accessToken: String?
    /// The header field: `Authorization`, with its value.
    public let headerItem: HeaderItem

    /// The number of the access token in its session.
    let tokenNumber: Int?
    let tenure: Tenure
    /// Whether it was returned after a 401: another 401 says nothing about the token.
    let isRetry: Bool

    init(_ value: String, tokenNumber: Int?, tenure: Tenure, isRetry: Bool) {
        accessToken = tokenNumber.map { _ in String(value.drop { $0 != " " }.dropFirst()) }
        headerItem = HeaderItem(name: "Authorization", value: value)
        self.tokenNumber = tokenNumber
        self.tenure = tenure
        self.isRetry = isRetry
    }
}

extension RequestAuthorization: Redacted {}
