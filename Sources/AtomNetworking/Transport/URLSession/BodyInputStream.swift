import Foundation

#if canImport(FoundationNetworking)
    /// A body of files that Foundation's thread on Linux reads while it sends.
    ///
    /// An upload task traps if a part comes after the task was cancelled.
    final class BodyInputStream: InputStream {
        // One thread opens and reads it: Foundation's.
        private let reader: TransportBodyReader
        private let failed: @Sendable (AtomError) -> Void
        private var status = Stream.Status.notOpen

        /// - Parameter failed: Called at most once, before the exchange ends.
        init(_ reader: TransportBodyReader, failed: @escaping @Sendable (AtomError) -> Void) {
            self.reader = reader
            self.failed = failed
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { status }

        override func open() { status = .open }

        override func close() {
            status = .closed
            reader.close()
        }

        /// Always: the next reading finds the end.
        override var hasBytesAvailable: Bool { true }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            guard status == .open else { return status == .error ? -1 : 0 }
            do {
                return try reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength)) ?? 0
            } catch {
                status = .error
                failed(error)
                return -1
            }
        }
    }
#endif
