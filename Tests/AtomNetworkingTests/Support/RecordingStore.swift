import Foundation

@testable import AtomNetworking

/// The shared storage of several stores, like a disk that processes share.
final class SharedDisk: @unchecked Sendable {
    struct Failure: Error {}

    // All properties are accessed only under `lock`.
    private let lock = NSLock()
    private var credential: TokenCredential?
    private var isHeld = false
    private var queue: [CheckedContinuation<Void, Never>] = []
    private var written: [TokenCredential?] = []
    private var reads = 0
    private var refusesReads = false
    private var refusesWrites = false
    private var intent: String?

    init(_ credential: TokenCredential? = nil) {
        self.credential = credential
    }

    /// The written credentials, in order.
    var writes: [TokenCredential?] { lock.withLock { written } }
    var readCount: Int { lock.withLock { reads } }

    /// The stored credential; setting it simulates another process.
    var stored: TokenCredential? {
        get { lock.withLock { credential } }
        set { lock.withLock { credential = newValue } }
    }

    func refuse(reads: Bool = false, writes: Bool = false) {
        lock.withLock { (refusesReads, refusesWrites) = (reads, writes) }
    }

    /// The note of a process that was killed.
    func leaveIntent(for credential: TokenCredential) {
        lock.withLock { intent = credential.refreshToken }
    }

    /// Whether somebody has exclusive access.
    var isInUse: Bool { lock.withLock { isHeld } }
    var hasIntent: Bool { lock.withLock { intent != nil } }

    fileprivate func read() throws -> TokenCredential? {
        try lock.withLock {
            reads += 1
            if refusesReads { throw Failure() }
            return credential
        }
    }

    fileprivate func write(_ new: TokenCredential?) throws {
        try lock.withLock {
            if refusesWrites { throw Failure() }
            credential = new
            written.append(new)
            intent = nil
        }
    }

    fileprivate func acquire() async {
        await withCheckedContinuation { continuation in
            let isFree = lock.withLock {
                defer { isHeld = true }
                if isHeld { queue.append(continuation) }
                return !isHeld
            }
            if isFree { continuation.resume() }
        }
    }

    fileprivate func release() {
        let next = lock.withLock { () -> CheckedContinuation<Void, Never>? in
            if queue.isEmpty {
                isHeld = false
                return nil
            }
            return queue.removeFirst()
        }
        next?.resume()
    }

    fileprivate func record(_ token: String) -> Bool {
        lock.withLock {
            defer { intent = token }
            return intent == token
        }
    }

    fileprivate func forget() {
        lock.withLock { intent = nil }
    }
}

/// One process's access to a ``SharedDisk``, exclusive among all of them.
final class RecordingStore: RefreshIntentRecording {
    let disk: SharedDisk
    /// Awaited inside every exchange, before its body.
    let gate: (@Sendable () async -> Void)?
    /// Awaited inside every exchange, after its body and before the write.
    let gateBeforeWrite: (@Sendable () async -> Void)?

    init(
        _ disk: SharedDisk, gate: (@Sendable () async -> Void)? = nil,
        gateBeforeWrite: (@Sendable () async -> Void)? = nil
    ) {
        self.disk = disk
        self.gate = gate
        self.gateBeforeWrite = gateBeforeWrite
    }

    func load() async throws -> TokenCredential? { try disk.read() }

    func save(_ credential: TokenCredential?) async throws {
        await disk.acquire()
        defer { disk.release() }
        try disk.write(credential)
    }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        await disk.acquire()
        defer { disk.release() }
        let old = try disk.read()
        await gate?()
        let new = try await body(old)
        await gateBeforeWrite?()
        if new != old { try disk.write(new) }
        return new
    }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        disk.record(credential.refreshToken)
    }

    func removeRefreshIntent(for credential: TokenCredential) async {
        disk.forget()
    }
}

extension TokenCredential {
    /// The tokens with a number, valid for this many seconds from the start of
    /// manual clocks.
    static func issued(_ number: Int, life: Double = 3_600) -> TokenCredential {
        TokenCredential(
            accessToken: "A\(number)", expiresAt: Date(timeIntervalSince1970: 1_790_000_000 + life),
            refreshToken: "R\(number)")
    }
}
