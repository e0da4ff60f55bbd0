/// What happens when a server answers with a redirect.
///
/// Redirects are followed by RFC 9110 §15.4: 303 turns everything but HEAD
/// into GET, 301 and 302 turn POST into GET, and 307 and 308 repeat method
/// and body. When the origin changes, `Authorization`, `Cookie` and the
/// endpoint's own header fields but `Accept…`, `Content-…` and `User-Agent`
/// stay behind, for the rest of the exchange. A redirect from HTTPS to HTTP is
/// never followed: it arrives as the response that it is.
public enum RedirectPolicy: Sendable, Hashable {
    /// Follows so many redirects in a row; one more fails with
    /// `URLError.httpTooManyRedirects`.
    case follow(limit: Int)

    /// Hands the redirect to the caller as ``AtomError/response(_:)``.
    case doNotFollow
}
