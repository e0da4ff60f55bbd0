import CPostgreSQL
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A connection to the server, with its own thread.
///
/// libpq's calls block, so they run on the connection's own queue and never on a thread that Swift's tasks share. Every
/// wait is limited: a server that doesn't respond counts as lost.
final class Connection: @unchecked Sendable {
    // `handle` and `ending` are accessed only on `queue`, and in `deinit`, when there is no other reference.
    private let queue = DispatchQueue(label: "PostgresStore.Connection")
    private var handle: OpaquePointer?
    private let ending = Ending()

    private init() {}

    deinit {
        // Says goodbye and closes the connection; uncommitted changes are rolled back.
        PQfinish(handle)
    }

    /// Connects.
    ///
    /// - Parameter string: In libpq's format: `host=… dbname=…`, or a URL.
    static func open(
        _ string: String, _ limits: PostgresTokenCredentialStore.Limits
    ) async throws(PostgresStoreError) -> Connection {
        let connection = Connection()
        try await connection.onQueue { connection.connect(string, limits) }.get()
        return connection
    }

    /// Sends a statement and waits for its result, for at most `limit`.
    ///
    /// - Returns: The rows; for several statements, those of the last one.
    @discardableResult
    func run(_ statement: Statement, within limit: Duration) async throws(PostgresStoreError) -> [[String?]] {
        try await onQueue { self.perform(statement, within: limit) }.get()
    }

    private func onQueue<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}

// MARK: - On the queue: connecting

extension Connection {
    private func connect(
        _ string: String, _ limits: PostgresTokenCredentialStore.Limits
    ) -> Result<Void, PostgresStoreError> {
        // libpq would quote the string, including a password, in its message.
        guard let options = PQconninfoParse(string, nil) else { return .failure(.invalidConnectionString) }
        PQconninfoFree(options)

        let seconds = min(max((limits.connection.inMilliseconds + 999) / 1000, 2), 3600)
        // The last of a repeated keyword counts: values before `dbname` can be overridden by the connection string.
        let settings: [(String, String)] = [
            ("fallback_application_name", "AtomNetworking"),
            // If the string names several hosts, the one that accepts writes stores the tokens.
            ("target_session_attrs", "read-write"),
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "2"),
            ("dbname", string),
            ("connect_timeout", String(seconds)),
            ("client_encoding", "UTF8"),
        ]
        handle = withCStrings(settings.map(\.0)) { names in
            withCStrings(settings.map(\.1)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            return .failure(.unreachable(Self.text(PQerrorMessage(handle))))
        }
        PQsetnonblocking(handle, 1)
        // The receiver gets unsolicited messages of the server instead of
        // standard error. `ending` outlives the connection, which owns it.
        PQsetNoticeReceiver(
            handle,
            { ending, notice in
                guard let ending, let severity = PQresultErrorField(notice, Diagnosis.severity) else { return }
                guard ["FATAL", "PANIC"].contains(String(cString: severity)) else { return }
                Unmanaged<Ending>.fromOpaque(ending).takeUnretainedValue().sqlState =
                    PQresultErrorField(notice, Diagnosis.sqlState).map { String(cString: $0) }
            },
            Unmanaged.passUnretained(ending).toOpaque())
        return .success(())
    }

    /// A libpq message in one line.
    private static func text(_ message: UnsafePointer<CChar>?) -> String {
        message.map { String(cString: $0).split(whereSeparator: \.isNewline).joined(separator: " ") } ?? ""
    }
}

/// Fields of a result, `PG_DIAG_…`: macros that Swift doesn't see.
private enum Diagnosis {
    /// `PG_DIAG_SEVERITY_NONLOCALIZED`.
    static let severity = Int32(UInt8(ascii: "V"))
    /// `PG_DIAG_SQLSTATE`.
    static let sqlState = Int32(UInt8(ascii: "C"))
    /// `PG_DIAG_MESSAGE_PRIMARY`.
    static let message = Int32(UInt8(ascii: "M"))
}

/// The code with which the server itself closed a connection.
private final class Ending {
    var sqlState: String?
}

/// Calls a body with C strings and a null pointer at the end.
private func withCStrings<T>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> T) -> T {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
}

// MARK: - On the queue: statements

extension Connection {
    private func perform(_ statement: Statement, within limit: Duration) -> Result<[[String?]], PostgresStoreError> {
        guard handle != nil else { return .failure(.connectionLost(sqlState: ending.sqlState)) }
        let end = ContinuousClock.now.advanced(by: limit)
        guard send(statement), flush(until: end) else { return .failure(lost(end)) }

        var rows: [[String?]] = []
        var failure: PostgresStoreError?
        while true {
            while PQisBusy(handle) != 0 {
                guard wait(for: POLLIN, until: end), PQconsumeInput(handle) != 0 else {
                    // The connection may have ended with a result that explains why.
                    if PQisBusy(handle) == 0 { break }
                    return .failure(failure ?? lost(end))
                }
            }
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK: rows = Self.rows(of: result)
            case PGRES_COMMAND_OK: rows = []
            default: failure = failure ?? reason(result, statement)
            }
        }
        return failure.map(Result.failure) ?? .success(rows)
    }

    private func send(_ statement: Statement) -> Bool {
        // The simple protocol supports several statements at once, the extended protocol supports values.
        guard !statement.values.isEmpty else { return PQsendQuery(handle, statement.sql) != 0 }
        let count = statement.values.count
        // With lengths, so that a text isn't truncated at a zero byte.
        let bytes = statement.values.map { $0.map { Array($0.utf8) } }
        let buffers = bytes.map { bytes in
            bytes.map { bytes in
                let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count + 1)
                for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
                buffer[bytes.count] = 0
                return buffer
            }
        }
        defer { for buffer in buffers { buffer?.deallocate() } }
        let text: Oid = 25
        return PQsendQueryParams(
            handle, statement.sql, Int32(count), [Oid](repeating: text, count: count),
            buffers.map { buffer in buffer.flatMap { UnsafePointer($0.baseAddress) } },
            bytes.map { Int32($0?.count ?? 0) }, [Int32](repeating: 1, count: count), 0) != 0
    }

    private func flush(until end: ContinuousClock.Instant) -> Bool {
        while true {
            switch PQflush(handle) {
            case 0: return true
            case 1:
                // The server may only continue to read when its output is read.
                guard wait(for: POLLIN | POLLOUT, until: end), PQconsumeInput(handle) != 0 else { return false }
            default: return false
            }
        }
    }

    /// Whether the socket becomes ready before the time is up.
    private func wait(for events: Int32, until end: ContinuousClock.Instant) -> Bool {
        while true {
            let rest = ContinuousClock.now.duration(to: end).inMilliseconds
            guard rest > 0 else { return false }
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            let ready = poll(&descriptor, 1, Int32(min(rest, Int64(Int32.max))))
            if ready > 0 { return true }
            if ready < 0, errno != EINTR { return false }
        }
    }

    /// Closes the connection, whose state is unknown.
    private func lost(_ end: ContinuousClock.Instant) -> PostgresStoreError {
        let isSilent = ContinuousClock.now >= end && PQstatus(handle) == CONNECTION_OK
        PQfinish(handle)
        handle = nil
        return isSilent ? .noAnswer : Self.lost(ending.sqlState)
    }

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                guard PQgetisnull(result, row, column) == 0 else { return nil }
                return PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }
}

// MARK: - Errors

extension Connection {
    private func reason(_ result: OpaquePointer, _ statement: Statement) -> PostgresStoreError {
        let code = PQresultErrorField(result, Diagnosis.sqlState).map { String(cString: $0) } ?? ending.sqlState
        switch code {
        case "55P03": return .waitedTooLong
        case "57014": return .noAnswer
        case let code? where PQstatus(handle) == CONNECTION_OK && !Self.ends(code):
            // Never the detail, which quotes the row.
            let message = statement.carriesSecret ? nil : PQresultErrorField(result, Diagnosis.message)
            return .refused(sqlState: code, message: message.map { Self.text($0) })
        default: return Self.lost(code)
        }
    }

    private static func lost(_ code: String?) -> PostgresStoreError {
        code == "25P03" ? .heldTooLong : .connectionLost(sqlState: code)
    }

    /// Whether the server closes the connection after this code: classes 08 and
    /// 57P, and its limit for idle transactions.
    private static func ends(_ code: String) -> Bool {
        code.hasPrefix("08") || code.hasPrefix("57P") || code == "25P03"
    }
}
