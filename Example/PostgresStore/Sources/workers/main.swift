import AirlineServer
import AtomNetworking
import Foundation
import PostgresStore

// Several processes that share one session, whose tokens are in PostgreSQL:
//
//     workers [KILL]
//
// An airline server runs in this process. Its access tokens are valid for two seconds, each refresh token can be used
// once, and a second use ends the session. With KILL a worker is killed and replaced about that often, in seconds, and
// the server accepts a used refresh token for a while. The exit status is 0 if the session was refreshed, no refresh
// token was used twice, and no request failed.

/// The number of worker processes, and how long they send requests.
let (count, seconds) = (4, 20.0)
let database = ProcessInfo.processInfo.environment["ATOM_POSTGRES"] ?? ""
let arguments = CommandLine.arguments.dropFirst()

if arguments.first == "work", arguments.count == 3, let port = arguments.dropFirst().first.flatMap({ UInt16($0) }) {
    try await Work(port: port, store: PostgresTokenCredentialStore(database, session: arguments.last ?? "")).run()
    exit(0)
}

let killEvery = arguments.first.flatMap { Double($0) }
let session = "workers-\(UUID())"
let store = PostgresTokenCredentialStore(database, session: session)
try await store.prepare()
var policy = TokenPolicy()
policy.accessTokenLifetime = 2
policy.gracePeriod = killEvery == nil ? 0 : 10
let server = try await AirlineServer.start(policy: policy)
let signIn = AirlineEndpoint.signIn(port: server.port)
try await store.save(try await Atom().enqueue(signIn).resume(expecting: TokenCredential.self))
// Long enough that all workers find the token expired, and that some are killed in the meantime.
server.updatePolicy { $0.delayMilliseconds = 200 }

print("\(count) processes share a session in PostgreSQL for \(seconds) s.")
var workers = try (0..<count).map { _ in try Worker(port: server.port, session: session) }
var (answered, failed, killed) = (0, 0, 0)

@MainActor func note(_ lines: [Substring]) {
    let failures = lines.filter { $0 != Work.answered }
    answered += lines.count - failures.count
    failed += failures.count
    for line in failures { print("  \(line)") }
}

let end = ContinuousClock.now.advanced(by: .seconds(seconds))
while case let rest = ContinuousClock.now.duration(to: end), rest > .zero {
    // Not in step with the tokens.
    try await Task.sleep(for: min(rest, killEvery.map { .seconds($0 * .random(in: 0.5...1.5)) } ?? rest))
    guard killEvery != nil, ContinuousClock.now < end, let victim = workers.indices.randomElement() else { continue }
    note(await workers[victim].end(by: SIGKILL))
    killed += 1
    workers[victim] = try Worker(port: server.port, session: session)
}
for worker in workers { note(await worker.end(by: SIGTERM)) }
let counters = server.counters
await server.stop()
// The session belongs to the server that issued its tokens.
try await store.save(nil)

print(
    """
      requests answered, per the workers  \(answered), failed \(failed)
      workers killed and replaced         \(killed)
      refreshes                           \(counters.refreshes), repeated \(counters.repeatedRefreshes)
      refresh tokens used twice           \(counters.reuseDetected)
    """)
let isAsExpected = counters.refreshes > 0 && counters.reuseDetected == 0 && failed == 0 && answered > 0
print(isAsExpected ? "One session, and no token was used twice." : "The result is not as expected.")
exit(isAsExpected ? 0 : 1)
