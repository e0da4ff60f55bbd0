import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A temporary folder for one test, which is removed with this object.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The file of the tokens.
    var file: URL { self["tokens.json"] }

    /// The URL of a name in the folder.
    subscript(name: String) -> URL { url.appendingPathComponent(name) }

    /// The names in the folder.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    func store() -> FileTokenCredentialStore { FileTokenCredentialStore(fileURL: file) }
}

/// The status of a file itself, not of the target of a link.
func status(of url: URL) throws -> stat {
    var status = stat()
    try #require(lstat(url.path, &status) == 0)
    return status
}

/// The nine permission bits and the sticky bit.
func mode(of url: URL) throws -> mode_t {
    try status(of: url).st_mode & 0o7777
}

extension TokenCredential {
    /// A credential whose tokens contain the number.
    static func numbered(_ number: Int) -> TokenCredential {
        TokenCredential(
            accessToken: "access-\(number)", expiresAt: Date(timeIntervalSince1970: 1_790_000_000),
            refreshToken: "refresh-\(number)")
    }

    /// The number in a credential of ``numbered(_:)``.
    var number: Int? { refreshToken.split(separator: "-").last.flatMap { Int($0) } }
}

/// A manual clock that reports when an alarm is set, which a waiter for a lock
/// does.
final class AlarmWatchingTimeSource: TimeSource, Sendable {
    private struct State {
        var settings = 0
        var waiting: [(count: Int, signal: Signal)] = []
    }

    let manual = ManualClock()
    private let state = Locked(State())

    var now: MonotonicInstant { manual.now }
    var date: Date { manual.date }

    func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm {
        WatchedAlarm(alarm: manual.makeAlarm(ring: ring), source: self)
    }

    /// Waits until alarms have been set this many times.
    func settings(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        let signal = Signal()
        state.with { state in
            if state.settings >= count { signal.raise() } else { state.waiting.append((count, signal)) }
        }
        await signal.wait(sourceLocation: sourceLocation)
    }

    private struct WatchedAlarm: Alarm {
        let alarm: any Alarm
        let source: AlarmWatchingTimeSource

        func set(_ instant: MonotonicInstant) {
            alarm.set(instant)
            let reached = source.state.with { state in
                state.settings += 1
                let settings = state.settings
                defer { state.waiting.removeAll { $0.count <= settings } }
                return state.waiting.filter { $0.count <= settings }.map(\.signal)
            }
            for signal in reached { signal.raise() }
        }

        func invalidate() { alarm.invalidate() }
    }
}

/// Keeps the lock of a file until the test releases it: an exchange whose body
/// has started.
struct HeldExchange {
    private let gate = Signal()
    private let task: Task<TokenCredential?, any Error>

    /// Returns when the store is locked.
    init(_ store: any TokenCredentialStore, returning credential: TokenCredential? = nil) async throws {
        let begun = Signal()
        task = Task { [gate] in
            defer { begun.raise() }
            return try await store.exchange { _ in
                begun.raise()
                await gate.wait()
                return credential
            }
        }
        await begun.wait()
    }

    /// Lets the exchange end.
    @discardableResult
    func end() async throws -> TokenCredential? {
        gate.raise()
        return try await task.value
    }
}
