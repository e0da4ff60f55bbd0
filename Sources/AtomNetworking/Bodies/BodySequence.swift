import Foundation

/// A body that the app gives out part by part.
struct BodySequence: Sendable {
    /// Calls the closure with each part, in order, and waits for it each time.
    typealias Producer = @Sendable (_ give: @Sendable (Data) async -> Bool) async throws -> Void

    let length: Int64?
    private let isRepeatable: Bool
    private let produce: Producer
    private let isOpened = Guarded(false)

    init<S: AsyncSequence>(
        length: Int64?, isRepeatable: Bool, _ make: @escaping @Sendable () async throws -> S
    ) where S.Element == Data, S: SendableMetatype, S.AsyncIterator: SendableMetatype {
        self.length = length
        self.isRepeatable = isRepeatable
        produce = { give in
            for try await part in try await make() {
                guard await give(part) else { return }
            }
        }
    }

    var isSpent: Bool { !isRepeatable && isOpened.withLock { $0 } }

    /// Opens the stream only when its first part is wanted.
    func makeReader() -> BodySequenceReader { BodySequenceReader(self) }

    /// The stream; `nil` if it can't be read again.
    fileprivate func open() -> Producer? {
        let isFirst = isOpened.isSetNow()
        return isFirst || isRepeatable ? produce : nil
    }
}

/// Reads a stream of the app, one part ahead, in a task of its own.
final class BodySequenceReader: Sendable {
    private struct State {
        var part = Data()
        /// The last byte, until it is known that no other one follows.
        var held: UInt8?
        /// How the stream ended; `nil` while it goes on.
        var end: Result<Void, AtomError>?
        var hasStarted = false
        var isClosed = false
        var given: Int64 = 0
        /// The stream's task, while it waits for its part to be taken.
        var producer: CheckedContinuation<Bool, Never>?
        /// The transport, while it waits for a part.
        var consumer: (@Sendable () -> Void)?
        var task: Task<Void, Never>?
    }

    private let state = Guarded(State())
    private let sequence: BodySequence

    init(_ sequence: BodySequence) { self.sequence = sequence }

    private func start() {
        let isFirst = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted && !state.isClosed
        }
        guard isFirst else { return }
        guard let produce = sequence.open() else {
            let explanation = "The stream of the body can be read only once."
            return finish(.failure(.transfer(.bodyNotRepeatable, explanation, delivery: .maybeSent)))
        }
        let task = Task { [weak self] in
            let end: Result<Void, AtomError>
            do {
                try await produce { [weak self] part in
                    part.isEmpty ? true : await self?.give(part) ?? false
                }
                end = .success(())
            } catch {
                end = .failure(Self.failure(of: error))
            }
            self?.finish(end)
        }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.task = task }
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    /// Copies what there is of the next part; as ``TransportBodyReader``.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(AtomError) -> Int? {
        start()
        // The bytes are the app's: they are let go of outside the lock.
        let (result, producer, part) = state.withLock { state in
            let part = state.part
            let result = Result { () throws(AtomError) in try take(from: &state, into: buffer) }
            return (result, state.part.isEmpty ? state.producer.take() : nil, part)
        }
        withExtendedLifetime(part) {}
        producer?.resume(returning: true)
        return try result.get()
    }

    private func take(
        from state: inout State, into buffer: UnsafeMutableRawBufferPointer
    ) throws(AtomError) -> Int? {
        if let held = state.held, state.part.isEmpty {
            guard let end = state.end else { return 0 }
            try end.get()
            state.held = nil
            state.given += 1
            buffer[0] = held
            return 1
        }
        guard !state.part.isEmpty else {
            guard let end = state.end else { return 0 }
            try end.get()
            if let length = sequence.length, state.given < length { throw Self.lengthChanged(length) }
            return nil
        }
        var count = min(buffer.count, state.part.count)
        if let length = sequence.length {
            let rest = length - state.given
            guard state.held == nil, Int64(state.part.count) <= rest else { throw Self.lengthChanged(length) }
            if Int64(count) == rest { count -= 1 }
            if count == 0 {
                state.held = state.part.first
                state.part = Data()
                return 0
            }
        }
        state.given += Int64(count)
        state.part.copyBytes(to: buffer, from: state.part.startIndex..<(state.part.startIndex + count))
        state.part = count < state.part.count ? state.part.dropFirst(count) : Data()
        return count
    }

    func whenReadable(_ proceed: @escaping @Sendable () -> Void) {
        start()
        let isReadable = state.withLock { state in
            if !state.part.isEmpty || state.end != nil { return true }
            state.consumer = proceed
            return false
        }
        if isReadable { proceed() }
    }

    func close() {
        let (task, producer, consumer, part) = state.withLock { state in
            state.isClosed = true
            defer { state.part = Data() }
            if state.end == nil { state.end = .failure(.cancelled(.maybeSent)) }
            return (state.task.take(), state.producer.take(), state.consumer.take(), state.part)
        }
        withExtendedLifetime(part) {}
        task?.cancel()
        producer?.resume(returning: false)
        consumer?()
    }

    /// Offers a part, waits until it is taken, and returns whether more is wanted.
    private func give(_ part: Data) async -> Bool {
        await withCheckedContinuation { producer in
            let (consumer, isClosed) = state.withLock { state in
                guard !state.isClosed else { return (nil as (@Sendable () -> Void)?, true) }
                state.part = part
                state.producer = producer
                return (state.consumer.take(), false)
            }
            if isClosed { return producer.resume(returning: false) }
            consumer?()
        }
    }

    private func finish(_ end: Result<Void, AtomError>) {
        let consumer = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.consumer.take()
        }
        consumer?()
    }

    private static func failure(of error: any Error) -> AtomError {
        .transfer(
            .bodyFailed, "The stream of the body failed: \(type(of: error)).", delivery: .maybeSent, underlying: error)
    }

    private static func lengthChanged(_ length: Int64) -> AtomError {
        let explanation = "The stream of the body has not the \(length) bytes that were announced."
        return .transfer(.bodyLengthChanged, explanation, delivery: .maybeSent)
    }
}
