import Foundation

/// Why a ``PostgresTokenCredentialStore`` could not do what it was asked.
///
/// It never holds a token, a password or a connection string: of what the
/// server says only the code is kept, and its primary message where the
/// statement carried no token.
public enum PostgresStoreError: Error, Sendable, Hashable {
    /// The connection string can't be read. What is wrong with it isn't said,
    /// since it may hold a password.
    case invalidConnectionString

    /// No connection could be made; libpq says why.
    case unreachable(String)

    /// Others held the session's row for as long as this store waits. Nothing
    /// was written.
    case waitedTooLong

    /// The exchange held the row for longer than it may, and the server took it
    /// away. Nothing was written; what the exchange brought home is in no store.
    case heldTooLong

    /// The server didn't answer in time. Nothing was written.
    case noAnswer

    /// The connection was lost, with the code if the server ended it. Nothing
    /// was written.
    case connectionLost(sqlState: String?)

    /// The connection was lost, or the server fell silent, while the tokens
    /// were being committed: the new ones are stored or the old ones are, and
    /// only ``PostgresTokenCredentialStore/load()`` can tell.
    case outcomeUnknown

    /// The server refused, with its code (see PostgreSQL's “Error Codes”) and
    /// what it says where that can hold no token. `42P01` means that
    /// ``PostgresTokenCredentialStore/prepare()`` was never called. Nothing
    /// was written.
    case refused(sqlState: String, message: String?)

    /// What is stored isn't a credential that this version can read; it is left
    /// as it is.
    case unreadable

    /// The credential can't be written as JSON: its expiry isn't a number.
    case unwritable
}

extension PostgresStoreError: CustomStringConvertible, LocalizedError {
    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .invalidConnectionString: "The connection string for PostgreSQL can't be read."
        case .unreachable(let reason): "PostgreSQL can't be reached: \(reason)"
        case .waitedTooLong: "Others held the session's row for too long."
        case .heldTooLong: "The exchange took too long, and PostgreSQL ended it; nothing was stored."
        case .noAnswer: "PostgreSQL didn't answer in time; nothing was stored."
        case .connectionLost(let code): "The connection to PostgreSQL was lost\(Self.suffix(code)); nothing was stored."
        case .outcomeUnknown: "The connection to PostgreSQL was lost during a commit; the tokens may be stored or not."
        case .refused("42P01", _): "PostgreSQL has no table for tokens; prepare() makes it (42P01)."
        case .refused(let code, let message): "PostgreSQL refused\(Self.suffix(code)): \(message ?? "…")"
        case .unreadable: "What PostgreSQL holds for the session isn't a credential."
        case .unwritable: "The credential can't be written as JSON."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private static func suffix(_ sqlState: String?) -> String { sqlState.map { " (\($0))" } ?? "" }
}
