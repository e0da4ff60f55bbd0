import AtomNetworking
import Foundation
import PostgresStore

/// A process that the tests start, pause and kill.
///
/// - `exchanger count SESSION TIMES` adds one to the number in the access
///   token, the given number of times.
/// - `exchanger hold SESSION SECONDS` and `exchanger spend SESSION SECONDS`
///   begin an exchange, print `holding`, wait for a line, and store the token
///   `late`; `spend` first records that the refresh token is about to be used.
///   The server lets them lock the row for the given number of seconds.
@main
enum Exchanger {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let verb = arguments.first, let number = arguments.last.flatMap(Int.init) else {
            say("usage: exchanger count|hold|spend SESSION NUMBER")
            exit(64)
        }
        let session = arguments[arguments.startIndex + 1]
        do {
            switch verb {
            case "count": try await count(to: number, in: session)
            default: try await hold(session, for: .seconds(number), isSpending: verb == "spend")
            }
        } catch let error as PostgresStoreError {
            say("\(error)")
            exit(1)
        } catch {
            say("unexpected: \(error)")
            exit(2)
        }
    }

    private static func count(to times: Int, in session: String) async throws {
        let store = PostgresTokenCredentialStore(connectionString, session: session)
        for _ in 0..<times {
            _ = try await store.exchange { old in
                let number = old.flatMap { Int($0.accessToken) } ?? 0
                // Others get a chance to read the same number.
                await Task.yield()
                return TokenCredential(accessToken: "\(number + 1)", expiresAt: .distantFuture, refreshToken: "r")
            }
        }
        say("counted")
    }

    private static func hold(_ session: String, for limit: Duration, isSpending: Bool) async throws {
        var limits = PostgresTokenCredentialStore.Limits()
        limits.exchange = limit
        let store = PostgresTokenCredentialStore(connectionString, session: session, limits: limits)
        _ = try await store.exchange { old in
            if isSpending, let old {
                say("noted \(try await store.recordRefreshIntent(for: old))")
            }
            say("holding")
            await nextLine()
            return TokenCredential(accessToken: "late", expiresAt: .distantFuture, refreshToken: "late")
        }
        say("stored")
    }

    private static var connectionString: String { ProcessInfo.processInfo.environment["ATOM_POSTGRES"] ?? "" }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Waits for a line, or for the end of the process that writes it.
    private static func nextLine() async {
        await withCheckedContinuation { continuation in
            Thread {
                _ = readLine()
                continuation.resume()
            }.start()
        }
    }
}
