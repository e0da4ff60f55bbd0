import AtomNetworking
import CPostgreSQL
import Foundation
import PostgresStore
import Testing

/// The server for the tests; the script `test` starts one and provides its address.
struct Database {
    /// In libpq's format; `nil` without a server.
    static let connectionString = ProcessInfo.processInfo.environment["ATOM_POSTGRES"]

    static var isThere: Bool { connectionString != nil }

    let connectionString: String

    init() throws {
        connectionString = try #require(Self.connectionString)
    }

    /// A store for a session that no other test uses, with its tables created.
    func store(
        _ session: String = UUID().uuidString, as application: String = "tests",
        _ change: (inout PostgresTokenCredentialStore.Limits) -> Void = { _ in }
    ) async throws -> PostgresTokenCredentialStore {
        try await PostgresTokenCredentialStore(connectionString).prepare()
        return plainStore(session, as: application, change)
    }

    /// A store whose connections have a name on the server.
    func plainStore(
        _ session: String, as application: String, options: String = "",
        _ change: (inout PostgresTokenCredentialStore.Limits) -> Void = { _ in }
    ) -> PostgresTokenCredentialStore {
        var limits = PostgresTokenCredentialStore.Limits()
        change(&limits)
        return PostgresTokenCredentialStore(
            "\(connectionString) application_name='\(application)' \(options)", session: session, limits: limits)
    }

    /// A store with tables of its own, in a schema; they aren't created yet.
    func separateStore() throws -> (schema: String, PostgresTokenCredentialStore) {
        let schema = "s\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
        try ask("CREATE SCHEMA \(schema)")
        return (schema, plainStore("x", as: "tests", options: "options=-csearch_path=\(schema)"))
    }

    /// The first column of the server's result.
    @discardableResult
    func ask(_ sql: String) throws -> [String] {
        let connection = PQconnectdb(connectionString)
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            throw Refusal(message: String(cString: PQresultErrorMessage(result)))
        }
        return (0..<PQntuples(result)).map { String(cString: PQgetvalue(result, $0, 0)) }
    }

    struct Refusal: Error {
        let message: String
    }

    /// Waits until a connection of that name waits for a lock.
    func waitUntilBlocked(_ application: String) async throws {
        try await waitUntil(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(application)' AND wait_event_type = 'Lock'")
    }

    /// Repeats the query until it returns a row.
    func waitUntil(_ sql: String) async throws {
        for _ in 0..<500 {
            if try !ask(sql).isEmpty { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Refusal(message: "never true: \(sql)")
    }
}

extension TokenCredential {
    /// A credential with a token of that name.
    static func named(_ name: String, expiresAt: Date = .distantFuture) -> TokenCredential {
        TokenCredential(accessToken: "at-\(name)", expiresAt: expiresAt, refreshToken: "rt-\(name)")
    }
}

/// An exchange that stays open until the test ends it.
struct HeldExchange {
    private let running: Task<TokenCredential?, any Error>
    private let end: AsyncStream<Void>.Continuation

    /// Returns when the exchange has locked the row.
    init(of store: PostgresTokenCredentialStore, storing new: TokenCredential?) async throws {
        let (holds, hold) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        self.end = end
        running = Task {
            defer { hold.finish() }
            return try await store.exchange { _ in
                hold.finish()
                for await _ in ends {}
                return new
            }
        }
        for await _ in holds {}
    }

    func finish() async throws -> TokenCredential? {
        end.finish()
        return try await running.value
    }
}
