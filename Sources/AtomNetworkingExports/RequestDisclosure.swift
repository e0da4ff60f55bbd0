import AtomNetworking

/// How much of a request an export shows: `SentRequest.curlCommand(showing:)` and ``HARRecorder``.
///
/// What isn't shown is replaced by the word `HIDDEN`.
public enum RequestDisclosure: Sendable, Hashable {
    /// Everything, with its credentials.
    ///
    /// Whoever reads the export can use the session. Never write it to a log.
    case everything

    /// Everything but credentials.
    ///
    /// Hidden are the values of `Authorization`, `Cookie` and the like, and of everything that has the name of a
    /// credential: `api_key`, `access_token`, `client_secret`, `db_pass`, `signature`, a `code` beside `redirect_uri`
    /// and so on. So are JSON Web Tokens, and what follows `Bearer` or `Basic`. Such names are searched for in header
    /// fields, in the path, the query and the fragment of a URL, in forms and in JSON, and in each of their values,
    /// which may be JSON, a form, a URL or a list of parameters again. A body that can't be searched is hidden if it
    /// mentions such a name. All else is shown as it was sent, also what is private.
    case allButCredentials

    /// Only what is known to hold no secret, for logs.
    ///
    /// The values of the query, of the path's parameters, of most header fields and
    /// the body are hidden, and pieces of the path that look like a token.
    case onlyHarmless
}
