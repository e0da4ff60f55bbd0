import Foundation

/// The file that URLSession sends as a body; a temporary one is removed when
/// this is released.
final class SpooledBody: Sendable {
    let url: URL
    private let isTemporary: Bool

    private init(_ url: URL, isTemporary: Bool) {
        self.url = url
        self.isTemporary = isTemporary
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(at: url) }
    }

    /// Writes the body to a file, unless it is one.
    ///
    /// - Parameters:
    ///   - progress: Called after each part.
    ///   - completion: Called once, on any thread, also inside this call.
    /// - Returns: What stops the writing, which then fails.
    static func file(
        of body: TransportBodyStream, progress: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<SpooledBody, AtomError>) -> Void
    ) -> @Sendable () -> Void {
        if let url = body.fileURL {
            completion(.success(SpooledBody(url, isTemporary: false)))
            return {}
        }
        let name = "AtomNetworking-\(UUID().uuidString).body"
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let file = SpooledBody(url, isTemporary: true)
        do {
            // Only this user may read it.
            guard
                FileManager.default.createFile(
                    atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            let reader = body.makeReader()
            let spooling = Spooling(reader, to: try FileHandle(forWritingTo: url), progress: progress) { result in
                completion(result.map { file })
            }
            spooling.proceed()
            return { spooling.stop() }
        } catch {
            completion(.failure(Spooling.failure(of: error)))
            return {}
        }
    }
}

/// Writes a body to a file, part by part.
private final class Spooling: @unchecked Sendable {
    // One call of `write` follows the other.
    private let reader: TransportBodyReader
    private let file: FileHandle
    private let isStopped = Guarded(false)
    private let progress: @Sendable () -> Void
    private let completion: @Sendable (Result<Void, AtomError>) -> Void
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    init(
        _ reader: TransportBodyReader, to file: FileHandle, progress: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Void, AtomError>) -> Void
    ) {
        self.reader = reader
        self.file = file
        self.progress = progress
        self.completion = completion
    }

    /// Ends the writing before its next part; any thread calls it.
    func stop() {
        isStopped.withLock { $0 = true }
        reader.interrupt()
    }

    func proceed() {
        DispatchQueue.global(qos: .userInitiated).async { self.write() }
    }

    private func write() {
        do {
            while true {
                if isStopped.withLock({ $0 }) { throw AtomError.cancelled(.notSent) }
                let part = try buffer.withUnsafeMutableBytes { (bytes) throws(AtomError) in
                    try reader.read(into: bytes)
                }
                switch part {
                case .bytes(let count):
                    try file.write(contentsOf: buffer[..<count])
                    progress()
                case .later: return reader.whenReadable { self.proceed() }
                case .end:
                    try file.close()
                    return completion(.success(()))
                }
            }
        } catch {
            try? file.close()
            completion(.failure(Self.failure(of: error)))
        }
    }

    static func failure(of error: any Error) -> AtomError {
        if let error = error as? AtomError { return error }
        return .transfer(
            TransferError(
                .bodyFailed, "The body could not be written to a temporary file.", delivery: .notSent,
                underlying: error))
    }
}
