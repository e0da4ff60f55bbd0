import Foundation

/// One request of a service; nothing is sent until it is resumed.
///
/// ``Atom/enqueue(_:)`` creates one. Each `resume` reads the endpoint again and is a separate exchange, unless the
/// endpoint lets it share one: see ``Requestable/sharesIdenticalRequests``.
public final class Service: Sendable {
    let requestable: any Requestable
    let sharing: RequestSharing
    /// `nil` for a service without a cache.
    let caching: RequestCaching?
    var manager: RequestableQueueManager { sharing.manager }

    init(_ requestable: any Requestable, _ sharing: RequestSharing, _ caching: RequestCaching? = nil) {
        self.requestable = requestable
        self.sharing = sharing
        self.caching = caching
    }

    // The compiler shows the first line of a parameter list together with its error, so that line names the remedy.

    /// Sends the request and decodes the response.
    ///
    /// It runs in the caller's isolation until the request has started, so that the requests of one caller start in the
    /// order of its calls. Decoding runs elsewhere. `Data` returns the raw body, `String` the text of a body that isn't
    /// JSON, and ``DecodedResponse`` the model together with the response. A response without a body is `nil` for an
    /// optional; ``NoContent`` accepts it too.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let flights = try await atom.enqueue(Departures(airport: "SEA")).resume(expecting: [Flight].self)
    /// ```
    ///
    /// - Parameter type: The type of the body. It must be usable on every
    ///   actor; <doc:MainActorByDefault> shows what that means.
    /// - Returns: The decoded body.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task is cancelled, before or during the call.
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

    /// Sends the request and decodes the response with a decoder of its own.
    ///
    /// It is ``resume(expecting:)`` for a response that follows other rules than the rest of the service.
    /// ``AtomError/decodeIfPresent(as:)`` of its error uses this decoder, too.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let decoder = JSONDecoder()
    /// decoder.dateDecodingStrategy = .secondsSince1970
    /// let flights = try await service.resume(expecting: [Flight].self, decoder: decoder)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - decoder: The decoder of this call; don't change it meanwhile.
    /// - Returns: The decoded body.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task is cancelled, before or during the call.
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, decoder: JSONDecoder
    ) async throws(AtomError) -> T {
        let pending = try begin()
        defer { manager.resultHandler?() }
        do {
            return try await pending.model(by: manager.decoder.with(decoder))
        } catch {
            throw announced(error)
        }
    }

    /// Sends the request, decodes the response, and returns both.
    ///
    /// It is ``resume(expecting:)`` where the status or a header field matters, too.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let page = try await atom.enqueue(Departures(airport: "SEA")).resume(decoding: [Flight].self)
    /// print(page.model.count, page.response.headerFields["X-Total-Count"] ?? "unknown")
    /// ```
    ///
    /// - Parameter type: The type of the body.
    /// - Returns: The decoded body and its response.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task is cancelled, before or during the call.
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        decoding type: T.Type
    ) async throws(AtomError) -> DecodedResponse<T> {
        try await resume(expecting: DecodedResponse<T>.self)
    }

    /// The same for one person only; `nil` for whoever is signed in.
    nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        decoding type: T.Type, of person: Tenure?
    ) async throws(AtomError) -> DecodedResponse<T> {
        let pending = try begin(of: person)
        defer { manager.resultHandler?() }
        do {
            return try await pending.model()
        } catch {
            throw announced(error)
        }
    }

    /// Sends the request, decodes the response with a decoder of its own, and returns both.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - decoder: The decoder of this call; don't change it meanwhile.
    /// - Returns: The decoded body and its response.
    /// - Throws: ``AtomError``, as ``resume(expecting:decoder:)`` does.
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        decoding type: T.Type, decoder: JSONDecoder
    ) async throws(AtomError) -> DecodedResponse<T> {
        try await resume(expecting: DecodedResponse<T>.self, decoder: decoder)
    }

    /// Sends the request and returns the response.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let response = try await atom.enqueue(Departures(airport: "SEA")).resume()
    /// print(response.statusCode ?? 0, response.data.count)
    /// ```
    ///
    /// - Returns: The response, whose status is acceptable.
    /// - Throws: ``AtomError``; ``AtomError/cancelled(_:)`` when the task is cancelled, before or during the call.
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
    /// The request is started, or queued, before this method returns. The completion is dispatched on the
    /// configuration's queue and never called inside this method, even if the request is invalid.
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
        start(decoding: type, deliver: onQueue(completion))
    }

    /// Sends the request, decodes the response with a decoder of its own, and calls the completion once.
    ///
    /// ``resume(expecting:completion:)->ServiceTask`` explains the rest.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - decoder: The decoder of this call; don't change it meanwhile.
    ///   - completion: Gets the decoded body or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, decoder: JSONDecoder, completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        start(decoding: type, by: decoder, deliver: onQueue(completion))
    }

    /// Sends the request, decodes the response and calls the completion once.
    ///
    /// It is the method of the same name without its handle, for code that needs a method without a result: a protocol
    /// of the app's that ``Service`` conforms to, or `return` in a function without one.
    @_disfavoredOverload
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) {
        _ = start(decoding: type, deliver: onQueue(completion))
    }

    /// Sends the request, decodes the response and calls the completion once, on the main actor.
    ///
    /// The completion may use a view model directly, in every language mode: <doc:MainActorByDefault> has an example. A
    /// trailing closure is called on the main actor if it begins with `@MainActor`. The configuration's queue doesn't
    /// matter. The request is started, or queued, before this method returns, and the completion is never called inside
    /// it.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let task = atom.enqueue(Departures(airport: "SEA")).resume(expecting: [Flight].self, onMainActor: { result in
    ///     show(result)
    /// })
    /// ```
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
        start(decoding: type, deliver: onMainActor(completion))
    }

    /// - Parameter deliver: Called on any thread, and also inside this method.
    func start<T: Decodable & Sendable>(
        decoding type: T.Type, by own: JSONDecoder? = nil, progress: ProgressReporter? = nil,
        deliver: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        let decoder = own.map(manager.decoder.with) ?? manager.decoder
        let decoding: Exchange.Completion = { [isOwn = own != nil] result in
            switch result {
            case .failure(.response(let response)) where isOwn:
                deliver(.failure(.response(response.decoded(by: decoder))))
            case .failure(let error):
                deliver(.failure(error))
            case .success(let response):
                let response = isOwn ? response.decoded(by: decoder) : response
                // Neither the transport's serial queue nor the app's queue should
                // decode, and callers that block may have all threads of a global one.
                DispatchQueue(label: "AtomNetworking.decoding", qos: .userInitiated).async {
                    deliver(Result { () throws(AtomError) in try decoder.decode(type, from: response) })
                }
            }
        }
        return start(.completion(decoding), progress: progress)
    }

    /// Sends the request and calls the completion once with the response.
    ///
    /// The request is started, or queued, before this method returns. The completion is dispatched on the
    /// configuration's queue and never called inside this method, even if the request is invalid.
    ///
    /// - Parameter completion: Gets the response or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume(
        _ completion: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        start(.dispatched(completion))
    }

    /// Sends the request and calls the completion once with the response.
    ///
    /// It is the method of the same name without its handle, for code that needs a method without a result.
    @_disfavoredOverload
    public func resume(_ completion: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void) {
        let _: ServiceTask = resume(completion)
    }

    /// Sends the request and calls the completion once with the response, on the main actor.
    ///
    /// A trailing closure is called on the main actor if it begins with `@MainActor`. The configuration's queue doesn't
    /// matter. The request is started, or queued, before this method returns, and the completion is never called inside
    /// it.
    ///
    /// - Parameter completion: Gets the response or the error.
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume(
        onMainActor completion: @escaping @MainActor (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        start(.completion(onMainActor(completion)))
    }

    /// Reads the endpoint and starts the request, in the caller's isolation.
    ///
    /// - Parameter person: Whose response it has to be; `nil` for whoever is signed in.
    func begin(progress: ProgressReporter? = nil, of person: Tenure? = nil) throws(AtomError) -> PendingResponse {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        do {
            if let chain = manager.plugins {
                return PendingResponse(try plug(progress, chain, of: person, listener: .awaiting))
            }
            guard let person else {
                return PendingResponse(
                    run(try manager.prepare(requestable), of: requestable, listener: .awaiting, progress: progress))
            }
            var request = try manager.prepare(requestable)
            request.tenure = person
            return PendingResponse(run(request, of: requestable, listener: .awaiting, progress: progress))
        } catch {
            manager.resultHandler?()
            throw error
        }
    }

    @inline(__always)
    func run(
        _ request: consuming PreparedRequest, of requestable: any Requestable, listener: Exchange.Listener,
        progress: ProgressReporter?
    ) -> any RunningRequest {
        // Nobody joins a request whose progress is asked for.
        guard caching != nil || request.sharesIdenticalRequests && progress == nil else {
            return manager.run(request, listener: listener, progress: progress)
        }
        return runAround(request, of: requestable, listener: listener, progress: progress)
    }

    /// Apart from the one before, which most requests run for nothing of this.
    @inline(never)
    private func runAround(
        _ request: consuming PreparedRequest, of requestable: any Requestable, listener: Exchange.Listener,
        progress: ProgressReporter?
    ) -> any RunningRequest {
        if let caching { return caching.begin(request, requestable.caching, listener: listener, progress: progress) }
        return sharing.begin(request, listener: listener)
    }

    /// Refuses a request for what its call, and not its endpoint, asks for.
    func check<T>(
        _ request: borrowing PreparedRequest, of requestable: any Requestable, _ body: () throws(AtomError) -> T
    ) throws(AtomError) -> T {
        do {
            return try body()
        } catch {
            manager.preparation.refused(requestable, error)
            throw error.noting(
                AtomError.Request(
                    method: request.method, address: request.target.absoluteString, finalAddress: nil, attempts: 0,
                    duration: .zero))
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

    /// Reads the endpoint and starts the request, or tells the listener why that isn't possible.
    private func start(_ listener: Exchange.Listener, progress: ProgressReporter? = nil) -> ServiceTask {
        do {
            if let chain = manager.plugins {
                return ServiceTask(try plug(progress, chain, of: nil, listener: listener))
            }
            return ServiceTask(
                run(try manager.prepare(requestable), of: requestable, listener: listener, progress: progress))
        } catch {
            listener.tell(.failure(error), manager)
            return ServiceTask(nil)
        }
    }

    /// Calls the completion on the configuration's queue.
    func onQueue<T: Sendable>(
        _ completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> @Sendable (Result<T, AtomError>) -> Void {
        { [queue = manager.dispatchQueue, handler = manager.resultHandler] result in
            queue.async {
                completion(result)
                AtomNotification.hasTold(result, handler, on: queue)
            }
        }
    }

    func onMainActor<T: Sendable>(
        _ completion: @escaping @MainActor (Result<T, AtomError>) -> Void
    ) -> @Sendable (Result<T, AtomError>) -> Void {
        { [queue = manager.dispatchQueue, handler = manager.resultHandler] result in
            // Not over the main queue: a program may give the main actor another executor.
            Task { @MainActor in
                completion(result)
                AtomNotification.hasTold(result, handler, on: queue)
            }
        }
    }
}

extension Service: Redacted {}

/// A request that was resumed with a completion; whoever keeps it keeps the service's connections.
public final class ServiceTask: Sendable {
    private let running: (any RunningRequest)?

    init(_ running: (any RunningRequest)?) {
        self.running = running
    }

    /// Cancels the request, unless its result is already decided.
    ///
    /// The completion gets ``AtomError/cancelled(_:)``. You can call this on any thread, any number of times.
    public func cancel() {
        running?.cancel()
    }
}

extension ServiceTask: Redacted {}
