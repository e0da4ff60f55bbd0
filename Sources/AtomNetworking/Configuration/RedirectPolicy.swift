/// How a service handles redirects.
///
/// Redirects follow RFC 9110 §15.4: 303 changes every method but HEAD to GET,
/// 301 and 302 change POST to GET, and 307 and 308 keep method and body. When
/// the origin changes, `Authorization`, `Cookie` and the endpoint's own header
/// fields except `Accept…`, `Content-…` and `User-Agent` are removed for the
/// rest of the exchange. What the SDK itself asks for stays: the range of a
/// download that goes on, and the last event of a stream. A redirect from HTTPS to HTTP is never followed: the
/// caller gets it as the response.
public enum RedirectPolicy: Sendable, Hashable {
    /// Follows this many redirects in a row; one more fails with
    /// `URLError.httpTooManyRedirects`.
    case follow(limit: Int)

    /// Returns the redirect to the caller as ``AtomError/response(_:)``.
    case doNotFollow
}
