import AtomNetworking
import Foundation

/// A program that sends requests with one client and prints what they cost.
///
///     requests CLIENT ORIGIN PATH COUNT AT-ONCE [WARM-UP]
///
/// It prints a line with seconds, processor seconds, peak memory in KiB and the version of libcurl, and
/// for sequential requests also the memory after each tenth of them.
public enum Program {
    /// The clients by name.
    public typealias Clients = [String: @Sendable (Place) throws -> any Client]

    /// Runs the program, and returns when it is done.
    ///
    /// It blocks the calling thread, because Valgrind doesn't support an async
    /// `main`.
    public static func run(_ clients: Clients) {
        let arguments = CommandLine.arguments
        guard arguments.count >= 6, let place = Place(origin: arguments[2], path: arguments[3]),
            let count = Int(arguments[4]), let atOnce = Int(arguments[5]), count > 0, atOnce > 0,
            let makeClient = clients[arguments[1]]
        else {
            print("usage: \(arguments[0]) \(clients.keys.sorted().joined(separator: "|")) ORIGIN PATH COUNT AT-ONCE")
            exit(2)
        }
        let warmUp = arguments.count > 6 ? Int(arguments[6]) ?? 0 : 0
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let client = try makeClient(place)
                if warmUp > 0 { try await send(warmUp, atOnce: min(atOnce, 16), client) }
                try await measure(count, atOnce: atOnce, client)
            } catch {
                FileHandle.standardError.write(Data("failed: \(error)\n".utf8))
                exit(1)
            }
            done.signal()
        }
        done.wait()
    }

    private static func measure(_ count: Int, atOnce: Int, _ client: any Client) async throws {
        var line: [(String, String)] = []
        var memory: [Int] = []
        let before = Usage.now
        if atOnce == 1, count >= 10_000 {
            for _ in 0..<10 {
                for _ in 0..<count / 10 { try await client.flight() }
                memory.append(Memory.current)
            }
        } else if let client = client as? any CompletionClient, atOnce >= count {
            await sendAll(count, client)
        } else {
            try await send(count, atOnce: atOnce, client)
        }
        let after = Usage.now
        line.append(("seconds", String(after.seconds - before.seconds)))
        line.append(("processor", String(after.processorSeconds - before.processorSeconds)))
        line.append(("peak", String(Memory.peak)))
        if !memory.isEmpty { line.append(("memory", memory.map(String.init).joined(separator: ","))) }
        if let client = client as? AtomClient { line.append(("refreshes", String(client.refreshes))) }
        #if os(Linux)
            if let version = CurlTransport.libraryVersion { line.append(("libcurl", version)) }
        #endif
        if let count = (client as? AtomCachedClient)?.responsesOfServer { line.append(("server", String(count))) }
        print(line.map { "\($0.0)=\($0.1)" }.joined(separator: " "))
    }

    /// Sends all requests at once, without tasks.
    private static func sendAll(_ count: Int, _ client: any CompletionClient) async {
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for _ in 0..<count {
                group.enter()
                client.flight { isFlight in
                    if !isFlight { exit(1) }
                    group.leave()
                }
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Sends this many requests, with the given concurrency.
    private static func send(_ count: Int, atOnce: Int, _ client: any Client) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<atOnce {
                let share = count / atOnce + (worker < count % atOnce ? 1 : 0)
                group.addTask {
                    for _ in 0..<share { try await client.flight() }
                }
            }
            try await group.waitForAll()
        }
    }
}
