import Foundation

/// One request of a service; nothing is sent until it is resumed.
///
/// ``Atom/enqueue(_:)`` creates one. Each `resume` reads the endpoint again and
/// is a separate exchange, unless the endpoint lets it share one: see
/// ``Requestable/sharesIdenticalRequests``.
public final class Service: Sendable {
    let requestable: any Requestable
    let sharing: RequestSharing
    var manager: RequestableQueueManager { sharing.manager }

    init(_ requestable: any Requestable, _ sharing: RequestSharing) {
        self.requestable = requestable
        self.sharing = sharing
    }

    // The compiler shows the first line of a parameter list together with its
    // error, so that line names the remedy.

    /// Sends the request and decodes the response.
    ///
    /// It runs in the caller's isolation until the request has started, so
    /// that the requests of one caller start in the order of its calls.
    /// Decoding runs elsewhere. `Data` returns the raw body, `String` the
    /// text of a body that isn't JSON, and ``DecodedResponse`` the model together
    /// with the response. A response without a body is `nil` for an
    /// optional; ``NoContent`` accepts it too.
    ///
    /// - Parameter type: The type of the body. It must be usable on every
    ///   actor; <doc:MainActorByDefault> shows what that means.
    /// - Returns: The decoded body.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task
    ///   is cancelled, before or during the call.
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type
    ) async throws(AtomError) -> T {
        let pending = try begin()
        defer { manager.resultHandler?() }
        do {
            return try await pending.model()
        } catch {
            throw announced(error)
        }
    }

    /// Sends the request, decodes the response, and returns both.
    ///
    /// It is ``resume(expecting:)`` where the status or a header field matters,
    /// too.
    ///
    /// - Parameter type: The type of the body.
    /// - Returns: The decoded body and its response.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task
    ///   is cancelled, before or during the call.
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        decoding type: T.Type
    ) async throws(AtomError) -> DecodedResponse<T> {
        try await resume(expecting: DecodedResponse<T>.self)
    }

    /// Sends the request and returns the response.
    ///
    /// - Returns: The response, whose status is acceptable.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task
    ///   is cancelled, before or during the call.
    @discardableResult
    public nonisolated(nonsending) func resume() async throws(AtomError) -> AtomResponse {
        let pending = try begin()
        defer { manager.resultHandler?() }
        do {
            return try await pending.response()
        } catch {
            throw announced(error)
        }
    }

    /// Sends the request, decodes the response and calls the completion once.
    ///
    /// The request is started, or queued, before this method returns. The
    /// completion is dispatched on the configuration's queue and never called
    /// inside this method, even if the request is invalid.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - completion: Gets the decoded body or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        resume(expecting: type, reporter: nil, completion: completion)
    }

    /// Sends the request, decodes the response and calls the completion once.
    ///
    /// It is the method of the same name without its handle, for code that needs
    /// a method without a result: a protocol of the app's that ``Service``
    /// conforms to, or `return` in a function without one.
    @_disfavoredOverload
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) {
        _ = resume(expecting: type, reporter: nil, completion: completion)
    }

    /// Sends the request, decodes the response and calls the completion once,
    /// on the main actor.
    ///
    /// The completion may use a view model directly, in every language mode:
    ///
    /// <!-- given:
    /// import AtomNetworking
    ///
    /// enum Account: Requestable {
    ///     case unreadCount
    ///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    /// }
    ///
    /// @MainActor final class Inbox {
    ///     var count = 0
    ///     let atom = Atom()
    /// }
    /// -->
    /// ```swift
    /// extension Inbox {
    ///     func load() {
    ///         atom.enqueue(Account.unreadCount).resume(
    ///             expecting: Int.self,
    ///             onMainActor: { [weak self] result in
    ///                 if case .success(let count) = result { self?.count = count }
    ///             })
    ///     }
    /// }
    /// ```
    ///
    /// A trailing closure is called on the main actor if it begins with
    /// `@MainActor`. The configuration's queue doesn't matter. The request is
    /// started, or queued, before this method returns, and the completion is
    /// never called inside it.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - completion: Gets the decoded body or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, onMainActor completion: @escaping @MainActor (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        resume(expecting: type, reporter: nil, onMainActor: completion)
    }

    func resume<T: Decodable & Sendable>(
        expecting type: T.Type, reporter: ProgressReporter?,
        onMainActor completion: @escaping @MainActor (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        let (dispatchQueue, handler) = (manager.dispatchQueue, manager.resultHandler)
        return start(decoding: type, progress: reporter) {
            Self.deliver($0, onMainActor: completion, announcingOn: dispatchQueue, handler)
        }
    }

    func resume<T: Decodable & Sendable>(
        expecting type: T.Type, reporter: ProgressReporter?,
        completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        let (dispatchQueue, handler) = (manager.dispatchQueue, manager.resultHandler)
        return start(decoding: type, progress: reporter) {
            Self.deliver($0, on: dispatchQueue, to: completion, handler)
        }
    }

    /// - Parameter deliver: Called on any thread, and also inside this method.
    private func start<T: Decodable & Sendable>(
        decoding type: T.Type, progress: ProgressReporter?,
        deliver: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        let decoding: Exchange.Completion = { [decoder = manager.decoder] result in
            switch result {
            case .failure(let error):
                deliver(.failure(error))
            case .success(let response):
                // Neither the transport's serial queue nor the app's queue should
                // decode, and callers that block may have all threads of a global one.
                DispatchQueue(label: "AtomNetworking.decoding", qos: .userInitiated).async {
                    let model = Result { () throws(AtomError) in
                        try decoder.decode(type, from: response)
                    }
                    deliver(model)
                }
            }
        }
        return start(.completion(decoding), progress: progress) { deliver(.failure($0)) }
    }

    /// Sends the request and calls the completion once with the response.
    ///
    /// The request is started, or queued, before this method returns. The
    /// completion is dispatched on the configuration's queue and never called
    /// inside this method, even if the request is invalid.
    ///
    /// - Parameter completion: Gets the response or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume(
        _ completion: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        start(.dispatched(completion)) {
            Self.deliver(.failure($0), on: manager.dispatchQueue, to: completion, manager.resultHandler)
        }
    }

    /// Sends the request and calls the completion once with the response.
    ///
    /// It is the method of the same name without its handle, for code that needs
    /// a method without a result.
    @_disfavoredOverload
    public func resume(_ completion: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void) {
        let _: ServiceTask = resume(completion)
    }

    /// Sends the request and calls the completion once with the response, on
    /// the main actor.
    ///
    /// A trailing closure is called on the main actor if it begins with
    /// `@MainActor`. The configuration's queue doesn't matter. The request is
    /// started, or queued, before this method returns, and the completion is
    /// never called inside it.
    ///
    /// - Parameter completion: Gets the response or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume(
        onMainActor completion: @escaping @MainActor (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        let deliver: Exchange.Completion = {
            [dispatchQueue = manager.dispatchQueue, handler = manager.resultHandler] result in
            Self.deliver(result, onMainActor: completion, announcingOn: dispatchQueue, handler)
        }
        return start(.completion(deliver)) { deliver(.failure($0)) }
    }

    /// Reads the endpoint and starts the request, in the caller's isolation.
    func begin(progress: ProgressReporter? = nil) throws(AtomError) -> PendingResponse {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        return PendingResponse(sharing.begin(try prepared(), listener: .awaiting, progress: progress))
    }

    /// Reads and validates the endpoint for an async caller, in its isolation.
    func prepared() throws(AtomError) -> PreparedRequest {
        do {
            return try manager.prepare(requestable)
        } catch {
            manager.resultHandler?()
            throw error
        }
    }

    /// Posts the notification for an error, and returns the error.
    ///
    /// It is called in the isolation of the caller that gets the error. If both
    /// use one queue, the notification runs after the caller.
    func announced(_ error: AtomError) -> AtomError {
        AtomNotification.announceRefusal(error, on: manager.dispatchQueue)
        return error
    }

    /// Reads the endpoint and starts the request, or reports why that isn't
    /// possible.
    private func start(
        _ listener: Exchange.Listener, progress: ProgressReporter? = nil, orRefuse refuse: (AtomError) -> Void
    ) -> ServiceTask {
        do {
            return ServiceTask(
                sharing.begin(try manager.prepare(requestable), listener: listener, progress: progress))
        } catch {
            refuse(error)
            return ServiceTask(nil)
        }
    }

    static func deliver<T: Sendable>(
        _ result: Result<T, AtomError>, on queue: DispatchQueue,
        to completion: @escaping @Sendable (Result<T, AtomError>) -> Void, _ handler: (@Sendable () -> Void)?
    ) {
        queue.async {
            completion(result)
            handler?()
            if case .failure(let error) = result { AtomNotification.announceRefusal(error, on: queue) }
        }
    }

    static func deliver<T: Sendable>(
        _ result: Result<T, AtomError>, onMainActor completion: @escaping @MainActor (Result<T, AtomError>) -> Void,
        announcingOn queue: DispatchQueue, _ handler: (@Sendable () -> Void)?
    ) {
        // Not over the main queue: a program may give the main actor another
        // executor.
        Task { @MainActor in
            completion(result)
            handler?()
            if case .failure(let error) = result { AtomNotification.announceRefusal(error, on: queue) }
        }
    }
}

extension Service: Redacted {}

/// A request that was resumed with a completion.
public final class ServiceTask: Sendable {
    private let running: (any RunningRequest)?

    init(_ running: (any RunningRequest)?) {
        self.running = running
    }

    /// Cancels the request, unless its result is already decided.
    ///
    /// The completion gets ``AtomError/cancelled(_:)``. You can call this on
    /// any thread, any number of times.
    public func cancel() {
        running?.cancel()
    }
}

extension ServiceTask: Redacted {}
