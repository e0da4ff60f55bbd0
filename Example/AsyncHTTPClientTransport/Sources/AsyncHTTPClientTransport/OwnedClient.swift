import AsyncHTTPClient
import Foundation

/// A client that is shut down when its last reference is released.
///
/// The transport holds a reference, and so does each exchange until it ends.
final class OwnedClient: @unchecked Sendable {
    let client: HTTPClient

    // `isClosed` is accessed only under `lock`.
    private let lock = NSLock()
    private var isClosed = false

    init(_ client: HTTPClient) {
        self.client = client
    }

    deinit {
        guard !isClosed else { return }
        // On another thread: this may run on an event loop inside the client, under a lock of its pool.
        DispatchQueue.global().async { [client] in client.shutdown { _ in } }
    }

    var isShutDown: Bool { lock.withLock { isClosed } }

    /// Closes all connections and waits until they are closed; a second call does nothing.
    func shutdown() async {
        let isFirst = lock.withLock {
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        await withCheckedContinuation { continuation in
            client.shutdown { _ in continuation.resume() }
        }
    }
}
