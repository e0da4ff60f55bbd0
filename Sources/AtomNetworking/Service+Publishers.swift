#if canImport(Combine)
    import Combine
    import Foundation

    extension Service {
        /// A publisher of one decoded response.
        ///
        /// Nothing is sent before a subscriber requests a value. Cancelling the subscription cancels the request. Each
        /// subscriber sends its own request. The value arrives on the configuration's queue.
        ///
        /// - Parameter type: The type of the body.
        /// - Returns: The publisher, which does nothing until there is demand.
        public func publisher<T: Decodable & Sendable>(expecting type: T.Type) -> AnyPublisher<T, AtomError> {
            ServicePublisher { [self] completion in resume(expecting: type, completion: completion) }
                .eraseToAnyPublisher()
        }

        /// A publisher of one response, as ``publisher(expecting:)``.
        ///
        /// - Returns: The publisher, which does nothing until there is demand.
        public func publisher() -> AnyPublisher<AtomResponse, AtomError> {
            ServicePublisher { [self] completion in resume(completion) }
                .eraseToAnyPublisher()
        }
    }

    /// Resumes a request for each subscriber at its first demand.
    private struct ServicePublisher<Output: Sendable>: Publisher {
        typealias Failure = AtomError
        typealias Start = @Sendable (@escaping @Sendable (Result<Output, AtomError>) -> Void) -> ServiceTask

        let start: Start

        func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == AtomError {
            subscriber.receive(subscription: ServiceSubscription(AnySubscriber(subscriber), start: start))
        }
    }

    private final class ServiceSubscription<Input: Sendable>: Subscription, Sendable {
        private struct Target: @unchecked Sendable {
            // Called outside the lock, once, by the code that removes the target.
            let subscriber: AnySubscriber<Input, AtomError>
        }

        private struct State {
            var target: Target?
            var start: ServicePublisher<Input>.Start?
            var task: ServiceTask?
        }

        private let state: Guarded<State>

        init(_ subscriber: AnySubscriber<Input, AtomError>, start: @escaping ServicePublisher<Input>.Start) {
            state = Guarded(State(target: Target(subscriber: subscriber), start: start))
        }

        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            let start = state.withLock { $0.start.take() }
            guard let task = start?({ [self] result in deliver(result) }) else { return }
            let isOver = state.withLock { state in
                // After the end this would create a retain cycle.
                if state.target != nil { state.task = task }
                return state.target == nil
            }
            if isOver { task.cancel() }
        }

        func cancel() {
            // All three are released outside the lock: releasing them may cancel this subscription again.
            let (target, start, task) = state.withLock { ($0.target.take(), $0.start.take(), $0.task.take()) }
            withExtendedLifetime((target, start)) { task?.cancel() }
        }

        private func deliver(_ result: Result<Input, AtomError>) {
            let (target, _) = state.withLock { ($0.target.take(), $0.task.take()) }
            guard let subscriber = target?.subscriber else { return }
            switch result {
            case .success(let value):
                _ = subscriber.receive(value)
                subscriber.receive(completion: .finished)
            case .failure(let error):
                subscriber.receive(completion: .failure(error))
            }
        }
    }
#endif
