import Foundation

/// The temporary file of a body for URLSession, removed when it is released.
final class SpooledBody: @unchecked Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("AtomNetworking-\(UUID().uuidString).body")
    // One call of `writeParts` follows the other.
    private let reader: TransportBodyReader
    private var file: Descriptor?
    private var size: Int64 = 0
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private let isStopped = Guarded(false)

    init(_ body: TransportBody) {
        reader = body.makeReader()
    }

    deinit { unlink(url.path) }

    /// Writes the body, once; the completion is called on any thread.
    func write(progress: @escaping @Sendable () -> Void, completion: @escaping @Sendable (AtomError?) -> Void) {
        // Code of the app may block all threads of the global queue.
        DispatchQueue(label: "AtomNetworking.URLSessionTransport.body", qos: .userInitiated).async { [self] in
            do throws(AtomError) {
                guard try writeParts(progress) else {
                    return reader.whenReadable { self.write(progress: progress, completion: completion) }
                }
                file = nil
                completion(nil)
            } catch {
                file = nil
                completion(error)
            }
        }
    }

    /// Ends the writing before its next part; any thread calls it.
    func stop() {
        isStopped.withLock { $0 = true }
        reader.interrupt()
    }

    /// Writes what can be read now, and returns whether that was all.
    private func writeParts(_ progress: () -> Void) throws(AtomError) -> Bool {
        // Only this user may read it.
        file = file ?? Descriptor(url.path, O_WRONLY | O_CREAT | O_EXCL)
        guard let file else { throw Self.failure(errno) }
        while true {
            if isStopped.withLock({ $0 }) { throw .cancelled(.notSent) }
            let part = buffer.withUnsafeMutableBytes { bytes in
                Result { () throws(AtomError) in try reader.read(into: bytes) }
            }
            guard let count = try part.get() else { return true }
            guard count > 0 else { return false }
            guard file.write(Data(buffer[..<count]), at: size) else { throw Self.failure(errno) }
            size += Int64(count)
            progress()
        }
    }

    private static func failure(_ code: Int32) -> AtomError {
        .transfer(
            .bodyFailed, "The body could not be written to a temporary file.", delivery: .notSent,
            underlying: POSIXErrorCode(rawValue: code).map { POSIXError($0) })
    }
}
