/// How much of a request an export shows: ``SentRequest/curlCommand(showing:)``
/// and ``HARRecorder``.
///
/// What isn't shown is replaced by the word `HIDDEN`.
public enum RequestDisclosure: Sendable, Hashable {
    /// Everything, with its credentials.
    ///
    /// Whoever reads the export can use the session. Never write it to a log.
    case everything

    /// Everything but credentials.
    ///
    /// Hidden are the values of `Authorization`, `Cookie` and the like, and of
    /// every header field, query item, form field and JSON key whose name says
    /// that it is a credential: `api_key`, `access_token`, `client_secret`,
    /// `password`, `signature` and so on. So are JSON Web Tokens, and what has
    /// such a name in a parameter of the path, or in a text in JSON. A body that
    /// can't be searched is hidden if it mentions such a name. All else is shown
    /// as it was sent, also what is private.
    case allButCredentials

    /// Only what is known to hold no secret, for logs.
    ///
    /// The values of the query, of most header fields and the body are hidden,
    /// and pieces of the path that look like a token.
    case onlyHarmless
}
