import Foundation

/// Why a ``PostgresTokenCredentialStore`` failed.
///
/// It never contains a token, a password or a connection string. From the server's message it contains only the code,
/// and the primary message if the statement contained no token.
public enum PostgresStoreError: Error, Sendable, Hashable {
    /// The connection string can't be parsed. The reason isn't included, because the string may contain a password.
    case invalidConnectionString

    /// No connection could be made; the text is libpq's.
    case unreachable(String)

    /// Others locked the session's row for longer than this store waits. Nothing was written.
    case waitedTooLong

    /// The exchange locked the row for too long, and the server ended it.
    /// Nothing was written; the result of the exchange isn't stored anywhere.
    case heldTooLong

    /// The server didn't respond in time. Nothing was written.
    case noAnswer

    /// The connection was lost, with the code if the server closed it. Nothing was written.
    case connectionLost(sqlState: String?)

    /// The connection was lost, or the server stopped responding, during the commit. Either the new or the old tokens
    /// are stored; only ``PostgresTokenCredentialStore/load()`` can tell.
    case outcomeUnknown

    /// The server rejected a statement, with its code (see PostgreSQL's “Error Codes”) and its message if that can't
    /// contain a token. `42P01` means that ``PostgresTokenCredentialStore/prepare()`` was never called. Nothing was
    /// written.
    case refused(sqlState: String, message: String?)

    /// The stored data isn't a credential that this version can read; it stays unchanged.
    case unreadable

    /// The credential can't be encoded as JSON, because its expiry isn't a number.
    case unwritable
}

extension PostgresStoreError: CustomStringConvertible, LocalizedError {
    /// A sentence that says what happened.
    public var description: String {
        switch self {
        case .invalidConnectionString: "The connection string for PostgreSQL can't be read."
        case .unreachable(let reason): "PostgreSQL can't be reached: \(reason)"
        case .waitedTooLong: "Others held the session's row for too long."
        case .heldTooLong: "The exchange took too long, and PostgreSQL ended it; nothing was stored."
        case .noAnswer: "PostgreSQL didn't respond in time; nothing was stored."
        case .connectionLost(let code): "The connection to PostgreSQL was lost\(Self.suffix(code)); nothing was stored."
        case .outcomeUnknown: "The connection to PostgreSQL was lost during a commit; the tokens may be stored or not."
        case .refused("42P01", _): "PostgreSQL has no table for tokens; call prepare() first (42P01)."
        case .refused(let code, let message): "PostgreSQL rejected the statement\(Self.suffix(code)): \(message ?? "…")"
        case .unreadable: "The stored data of the session isn't a credential."
        case .unwritable: "The credential can't be written as JSON."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func suffix(_ sqlState: String?) -> String { sqlState.map { " (\($0))" } ?? "" }
}
