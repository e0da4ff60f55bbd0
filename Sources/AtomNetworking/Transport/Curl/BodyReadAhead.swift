#if os(Linux)
    import Foundation

    /// A body that libcurl's thread reads without waiting for a disk.
    ///
    /// The system has no way to read a file without waiting. So bodies with files are
    /// read ahead on a thread of their own, two parts at most.
    final class BodyReadAhead: Sendable {
        private struct State {
            /// What has been read, in order, and how much of the first part was taken.
            var parts: [[UInt8]] = []
            var taken = 0
            /// How the body ended behind these; `nil` while it goes on.
            var end: Result<Void, AtomError>?
            var isReading = false
            var isClosed = false
            /// libcurl's side, while it waits for a part.
            var consumer: (@Sendable () -> Void)?

            /// Whether the next part may be read now, and nobody reads it yet.
            mutating func startsReading() -> Bool {
                guard !isReading, !isClosed, end == nil, parts.count < 2 else { return false }
                isReading = true
                return true
            }
        }

        private let state = Guarded(State())
        /// Used on the queue alone, if it is read ahead.
        private let reader: TransportBodyReader
        private let isAhead: Bool
        private let partSize: Int
        /// Without a target, it gets a thread also when the app blocks all of GCD's.
        private let queue = DispatchQueue(label: "AtomNetworking.CurlTransport.body")

        init(_ body: TransportBody) {
            reader = body.makeReader()
            let segments = if case .segments(let body) = body.source { body.segments } else { [BodySegments.Segment]() }
            isAhead = segments.contains { if case .file = $0 { true } else { false } }
            // 32 bits: it is limited. A part that isn't full checks what is behind it.
            partSize = Int(min(body.length ?? 0, (64 << 10) - 1)) + 1
            if isAhead { readOn() }
        }

        /// Copies what there is of the next part, as ``TransportBodyReader`` does.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(AtomError) -> Int? {
            guard isAhead else { return try reader.read(into: buffer) }
            defer { readOn() }
            return try state.withLock { state throws(AtomError) in
                guard let part = state.parts.first else {
                    try state.end?.get()
                    return state.end == nil ? 0 : nil
                }
                let rest = part[state.taken...].prefix(buffer.count)
                buffer.copyBytes(from: rest)
                state.taken += rest.count
                if state.taken == part.count {
                    state.parts.removeFirst()
                    state.taken = 0
                }
                return rest.count
            }
        }

        /// Calls the closure once when more can be read, unless it is closed.
        func whenReadable(_ proceed: @escaping @Sendable () -> Void) {
            guard isAhead else { return reader.whenReadable(proceed) }
            let isReadable = state.withLock { state in
                if !state.parts.isEmpty || state.end != nil { return true }
                if !state.isClosed { state.consumer = proceed }
                return false
            }
            if isReadable { proceed() }
        }

        /// Closes it behind the reading that runs, and elsewhere: the system may take its
        /// time, and so may what the app does when its stream is cancelled.
        func close() {
            let consumer = state.withLock { state in
                state.isClosed = true
                state.parts = []
                return state.consumer.take()
            }
            withExtendedLifetime(consumer) {}
            queue.async { self.reader.close() }
        }

        private func readOn() {
            guard state.withLock({ $0.startsReading() }) else { return }
            queue.async { while self.readPart() {} }
        }

        /// Reads one part, and returns whether another one may be read at once.
        private func readPart() -> Bool {
            var end: Result<Void, AtomError>?
            let part = [UInt8](unsafeUninitializedCapacity: partSize) { buffer, count in
                do throws(AtomError) {
                    count = try reader.read(into: UnsafeMutableRawBufferPointer(buffer)) ?? 0
                    if count == 0 { end = .success(()) }
                } catch {
                    end = .failure(error)
                }
            }
            let (consumer, goesOn) = state.withLock { state in
                if !part.isEmpty, !state.isClosed { state.parts.append(part) }
                state.end = end
                state.isReading = false
                return (state.consumer.take(), state.startsReading())
            }
            consumer?()
            return goesOn
        }
    }
#endif
