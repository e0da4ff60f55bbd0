import AtomNetworking
import Combine
import Foundation

/// Records its events, and requests values when the test says so.
final class RecordingSubscriber<Input: Sendable>: Subscriber, @unchecked Sendable {
    typealias Failure = AtomError

    enum Event: Sendable {
        case value(Input, isOnQueue: Bool)
        case finished(isOnQueue: Bool)
        case failed(AtomError, isOnQueue: Bool)
    }

    let events = Recording<Event>()

    private let demand: Subscribers.Demand
    private let lock = NSLock()
    // Accessed only under `lock`.
    private var subscription: (any Subscription)?

    init(demand: Subscribers.Demand) {
        self.demand = demand
    }

    func receive(subscription: any Subscription) {
        lock.withLock { self.subscription = subscription }
        if demand > .none { subscription.request(demand) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        events.append(.value(input, isOnQueue: DeliveryQueue.isCurrent))
        return .none
    }

    func receive(completion: Subscribers.Completion<AtomError>) {
        switch completion {
        case .finished: events.append(.finished(isOnQueue: DeliveryQueue.isCurrent))
        case .failure(let error): events.append(.failed(error, isOnQueue: DeliveryQueue.isCurrent))
        }
    }

    func request(_ demand: Subscribers.Demand) {
        lock.withLock { subscription }?.request(demand)
    }

    func cancel() {
        lock.withLock { subscription }?.cancel()
    }
}

/// The queue that the tests configure for delivery.
enum DeliveryQueue {
    private static let key = DispatchSpecificKey<Bool>()

    static let queue: DispatchQueue = {
        let queue = DispatchQueue(label: "publishers.delivery")
        queue.setSpecific(key: key, value: true)
        return queue
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    /// Runs the closure on the queue, after everything that was dispatched
    /// before.
    static func drain<T: Sendable>(_ body: @escaping @Sendable () -> T = {}) async -> T {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }
}
