// The cost of requests that wait for a refresh: memory for each, the time to
// queue them, and the time from the refresh's response until all have started
// and completed. The transport responds at once, so only the SDK is measured.
//
//     waiters                    the table
//     waiters COUNT              one round with this many, for Valgrind
//     waiters COUNT cancelled    the same with all cancelled, the last one first

import Allocator
import AtomNetworking
import Foundation

final class Tokens: TokenCredentialWritable, @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var credential = TokenCredential(accessToken: "A0", expiresAt: .distantPast, refreshToken: "R0")

    var tokenCredential: TokenCredential {
        get { lock.withLock { credential } }
        set { lock.withLock { credential = newValue } }
    }
}

struct Endpoint: Requestable {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath("/v1/flights") }
}

struct Measurement {
    var bytes = 0.0
    var bytesLeft = 0.0
    var nanosecondsToQueue = 0.0
    var nanosecondsToRelease = 0.0
}

/// The processor time of all threads so far, which other programs hardly
/// affect.
func processorNanoseconds() -> Double { Double(clock()) * (1e9 / Double(CLOCKS_PER_SEC)) }

/// Lets this many requests wait for one refresh, and releases them.
///
/// - Parameter cancels: Whether all are cancelled before, the last one first.
func measure(_ count: Int, exchangesPerOrigin: Int?, cancels: Bool = false) throws -> Measurement {
    let transport = HeldTransport(exchangesPerOrigin: exchangesPerOrigin)
    let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
    let queue = DispatchQueue(label: "completions")
    var configuration = ServiceConfiguration(
        authenticationMethod: .bearer(endpoint, ClientCredential(id: "client"), Tokens()), dispatchQueue: queue,
        timeout: ServiceTimeout(request: 3_600, resource: 3_600))
    configuration.transport = transport
    let atom = Atom(serviceConfiguration: configuration)
    let group = DispatchGroup()
    let completion: @Sendable (Result<AtomResponse, AtomError>) -> Void = { result in
        let isExpected = if case .failure(let error) = result { cancels && error.isCancelled } else { true }
        guard isExpected else { fatalError("\(result)") }
        group.leave()
    }
    var result = Measurement()
    var tasks: [ServiceTask] = []

    // The refresh and everything that is created only once exist before
    // counting.
    group.enter()
    atom.enqueue(Endpoint()).resume(completion)
    transport.waitForRefresh()

    let before = Int(allocatedBytes())
    let called = processorNanoseconds()
    for _ in 0..<count {
        group.enter()
        if cancels {
            tasks.append(atom.enqueue(Endpoint()).resume(completion))
        } else {
            atom.enqueue(Endpoint()).resume(completion)
        }
    }
    let queued = processorNanoseconds()
    result.bytes = Double(Int(allocatedBytes()) - before) / Double(count)
    precondition(transport.started == 0)
    for task in tasks.reversed() { task.cancel() }

    transport.answerRefresh()
    group.wait()
    queue.sync {}
    let released = processorNanoseconds()
    precondition(transport.started == (cancels ? 1 : count + 1))
    result.bytesLeft = Double(Int(allocatedBytes()) - before) / Double(count)
    result.nanosecondsToQueue = (queued - called) / Double(count)
    result.nanosecondsToRelease = (released - queued) / Double(count)
    return result
}

func column(_ value: Double) -> String {
    let text = String(format: "%.0f", value)
    return String(repeating: " ", count: max(12 - text.count, 0)) + text
}

_ = try measure(1_000, exchangesPerOrigin: nil)
if CommandLine.arguments.count > 1 {
    guard let count = Int(CommandLine.arguments[1]), count > 0 else { fatalError("not a number of waiters") }
    let cancels = CommandLine.arguments.last == "cancelled"
    let result = try measure(count, exchangesPerOrigin: nil, cancels: cancels)
    print("bytes=\(result.bytes) queue=\(result.nanosecondsToQueue) release=\(result.nanosecondsToRelease)")
    exit(0)
}
for limit in [nil, 6] as [Int?] {
    print(limit.map { "\($0) exchanges at once:" } ?? "No limit on exchanges at once:")
    print("   waiters  bytes/waiter  bytes after  ns to queue  ns to release")
    for count in [1_000, 10_000, 100_000] {
        let rounds = try (0..<5).map { _ in try measure(count, exchangesPerOrigin: limit) }
        // The minimum of all rounds, because other programs only add time.
        func least(_ value: KeyPath<Measurement, Double>) -> Double { rounds.map { $0[keyPath: value] }.min() ?? 0 }
        print(
            column(Double(count)).dropFirst(2), column(least(\.bytes)), " ", column(least(\.bytesLeft)),
            column(least(\.nanosecondsToQueue)), " ", column(least(\.nanosecondsToRelease)))
    }
}
