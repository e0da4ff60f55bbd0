import Foundation

/// One request bound to a service, inert until it is resumed.
///
/// ``Atom/enqueue(_:)`` makes one. Each `resume` reads the endpoint anew and
/// is an exchange of its own.
public final class Service: Sendable {
    private let requestable: any Requestable
    private let manager: RequestableQueueManager

    init(_ requestable: any Requestable, manager: RequestableQueueManager) {
        self.requestable = requestable
        self.manager = manager
    }

    #if compiler(>=6.2)
        /// Sends the request and decodes the answer.
        ///
        /// Runs in the caller's isolation until the request is on its way, so
        /// that requests of one caller start in the order of its calls;
        /// decoding runs elsewhere. `Data` is the body as it came; an answer
        /// without a body is `nil` for an optional and ``NoContent`` for
        /// itself.
        ///
        /// - Parameter type: What the body is.
        /// - Returns: The decoded answer.
        /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task
        ///   is cancelled, before or during the call.
        public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
            expecting type: T.Type
        ) async throws(AtomError) -> T {
            let pending = try begin()
            do {
                return try await pending.model()
            } catch {
                throw announced(error)
            }
        }

        /// Sends the request and returns the answer as it came.
        ///
        /// - Returns: The answer, whose status is acceptable.
        /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task
        ///   is cancelled, before or during the call.
        @discardableResult
        public nonisolated(nonsending) func resume() async throws(AtomError) -> AtomResponse {
            let pending = try begin()
            do {
                return try await pending.response()
            } catch {
                throw announced(error)
            }
        }
    #else
        // The same for compilers that give an async method its caller's isolation as a parameter only.

        /// Sends the request and decodes the answer, in the caller's isolation
        /// until the request is on its way.
        public func resume<T: Decodable & Sendable>(
            expecting type: T.Type, isolation: isolated (any Actor)? = #isolation
        ) async throws(AtomError) -> T {
            let pending = try begin()
            do {
                return try await pending.model()
            } catch {
                throw announced(error)
            }
        }

        /// Sends the request and returns the answer as it came, in the
        /// caller's isolation until the request is on its way.
        @discardableResult
        public func resume(isolation: isolated (any Actor)? = #isolation) async throws(AtomError) -> AtomResponse {
            let pending = try begin()
            do {
                return try await pending.response()
            } catch {
                throw announced(error)
            }
        }
    #endif

    /// Sends the request, decodes the answer and calls back once.
    ///
    /// The request is started, or queued, before this returns. The completion
    /// is dispatched on the configuration's queue, never called in here, also
    /// when the request is invalid.
    ///
    /// - Parameters:
    ///   - type: What the body is.
    ///   - completion: Takes the model or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume<T: Decodable & Sendable>(
        expecting type: T.Type, completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        let dispatchQueue = manager.dispatchQueue
        let decoding: Exchange.Completion = { [decoder = manager.decoder] result in
            switch result {
            case .failure(let error):
                Self.deliver(.failure(error), on: dispatchQueue, to: completion)
            case .success(let response):
                // Neither the transport's serial queue nor the app's is the place to decode.
                DispatchQueue.global().async {
                    let model = Result { () throws(AtomError) in
                        try ResponseDecoding.decode(type, from: response, with: decoder)
                    }
                    Self.deliver(model, on: dispatchQueue, to: completion)
                }
            }
        }
        return start(.completion(decoding)) { Self.deliver(.failure($0), on: dispatchQueue, to: completion) }
    }

    /// Sends the request and calls back once with the answer as it came.
    ///
    /// The request is started, or queued, before this returns. The completion
    /// is dispatched on the configuration's queue, never called in here, also
    /// when the request is invalid.
    ///
    /// - Parameter completion: Takes the answer or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume(
        _ completion: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        start(.dispatched(completion)) { Self.deliver(.failure($0), on: manager.dispatchQueue, to: completion) }
    }

    /// Reads the endpoint and starts the request, in the caller's isolation.
    private func begin() throws(AtomError) -> PendingResponse {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        return PendingResponse(try manager.prepare(requestable), manager: manager)
    }

    /// Has the notification posted that belongs to an error.
    ///
    /// Called in the isolation of the caller who is about to get it: whatever
    /// is dispatched from here runs behind it where both use one queue.
    private func announced(_ error: AtomError) -> AtomError {
        AtomNotification.announceRefusal(error, on: manager.dispatchQueue)
        return error
    }

    /// Reads the endpoint and starts the request, or says why not.
    private func start(_ listener: Exchange.Listener, orRefuse refuse: (AtomError) -> Void) -> ServiceTask {
        do {
            return ServiceTask(manager.run(try manager.prepare(requestable), listener: listener))
        } catch {
            refuse(error)
            return ServiceTask(nil)
        }
    }

    private static func deliver<T: Sendable>(
        _ result: Result<T, AtomError>, on queue: DispatchQueue,
        to completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) {
        queue.async {
            completion(result)
            if case .failure(let error) = result { AtomNotification.announceRefusal(error, on: queue) }
        }
    }
}

extension Service: CustomReflectable {
    /// Keeps `dump` from showing credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A request that was resumed with a completion.
public final class ServiceTask: Sendable {
    private let exchange: Exchange?

    init(_ exchange: Exchange?) {
        self.exchange = exchange
    }

    /// Cancels the request, unless its outcome is decided already.
    ///
    /// The completion hears ``AtomError/cancelled(_:)``. May be called on any
    /// thread, any number of times.
    public func cancel() {
        exchange?.cancel()
    }
}

extension ServiceTask: CustomReflectable {
    /// Keeps `dump` from showing credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
