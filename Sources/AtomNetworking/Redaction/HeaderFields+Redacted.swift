extension HeaderFields {
    /// The same fields with "…" for each value of a field that may hold a secret, and for what looks like a token.
    var redacted: HeaderFields { redacted(mark: Redaction.hidden) }

    /// The same with another mark than "…".
    package func redacted(mark: String) -> HeaderFields {
        HeaderFields(
            map { field in
                guard Self.plainNames.contains(field.name.lowercased()) else {
                    return HeaderItem(name: Redaction.name(field.name, mark: mark), value: mark)
                }
                let value = Redaction.withoutNamedValues(field.value, mark: mark)
                return HeaderItem(name: field.name, value: Redaction.excerpt(value, limit: 200, mark: mark))
            })
    }

    private static let plainNames: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges", "age", "allow",
        "cache-control", "connection", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-range", "content-type", "date", "expect", "expires", "if-modified-since", "if-unmodified-since",
        "last-modified", "range", "retry-after", "server", "server-timing", "strict-transport-security",
        "transfer-encoding", "user-agent", "vary", "via", "warning",
    ]
}
