#if canImport(Combine)
    import Combine
    import Foundation

    extension Service {
        /// A publisher of one decoded answer.
        ///
        /// Nothing is sent before a subscriber asks for a value; cancelling the
        /// subscription cancels the request; each subscriber sends a request of
        /// its own. The value arrives on the configuration's queue.
        ///
        /// - Parameter type: What the body is.
        /// - Returns: The publisher, inert until there is demand.
        public func publisher<T: Decodable & Sendable>(expecting type: T.Type) -> AnyPublisher<T, AtomError> {
            ServicePublisher { [self] completion in resume(expecting: type, completion: completion) }
                .eraseToAnyPublisher()
        }

        /// A publisher of one answer as it came.
        ///
        /// Nothing is sent before a subscriber asks for a value; cancelling the
        /// subscription cancels the request; each subscriber sends a request of
        /// its own. The value arrives on the configuration's queue.
        ///
        /// - Returns: The publisher, inert until there is demand.
        public func publisher() -> AnyPublisher<AtomResponse, AtomError> {
            ServicePublisher { [self] completion in resume(completion) }
                .eraseToAnyPublisher()
        }
    }

    /// Resumes a request for each subscriber, at its first demand.
    private struct ServicePublisher<Output: Sendable>: Publisher {
        typealias Failure = AtomError
        typealias Start = @Sendable (@escaping @Sendable (Result<Output, AtomError>) -> Void) -> ServiceTask

        let start: Start

        init(start: @escaping Start) {
            self.start = start
        }

        func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == AtomError {
            subscriber.receive(subscription: ServiceSubscription(AnySubscriber(subscriber), start: start))
        }
    }

    private final class ServiceSubscription<Input: Sendable>: Subscription, @unchecked Sendable {
        // Everything that changes is touched under `lock` only. The subscriber is called outside it, once,
        // by whoever takes it out.
        private let lock = NSLock()
        private var subscriber: AnySubscriber<Input, AtomError>?
        private var start: ServicePublisher<Input>.Start?
        private var task: ServiceTask?

        init(_ subscriber: AnySubscriber<Input, AtomError>, start: @escaping ServicePublisher<Input>.Start) {
            self.subscriber = subscriber
            self.start = start
        }

        func request(_ demand: Subscribers.Demand) {
            guard demand > .none else { return }
            let start = lock.withLock { () -> ServicePublisher<Input>.Start? in
                defer { self.start = nil }
                return self.start
            }
            guard let task = start?({ [self] result in deliver(result) }) else { return }
            let isCancelled = lock.withLock {
                self.task = task
                return subscriber == nil
            }
            if isCancelled { task.cancel() }
        }

        func cancel() {
            // All three are let go of outside the lock: what goes with them may cancel this subscription again.
            let (subscriber, start, task) = lock.withLock {
                defer {
                    self.subscriber = nil
                    self.start = nil
                    self.task = nil
                }
                return (self.subscriber, self.start, self.task)
            }
            withExtendedLifetime((subscriber, start)) { task?.cancel() }
        }

        private func deliver(_ result: Result<Input, AtomError>) {
            let subscriber = lock.withLock { () -> AnySubscriber<Input, AtomError>? in
                defer {
                    self.subscriber = nil
                    task = nil
                }
                return self.subscriber
            }
            guard let subscriber else { return }
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
