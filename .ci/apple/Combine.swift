// What the SDK uses of Combine; see AppleFoundation.swift.

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
extension Publisher {
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { fatalError() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    public func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input {}
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol CustomCombineIdentifierConvertible {}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol Cancellable {
    func cancel()
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public enum Subscribers {
    public struct Demand: Equatable, Comparable, Hashable, Sendable {
        public static let none = Demand()
        public static let unlimited = Demand()
        public static func < (a: Demand, b: Demand) -> Bool { false }
    }
    public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct AnySubscriber<Input, Failure: Error>: Subscriber {
    public init<S: Subscriber>(_ s: S) where Input == S.Input, Failure == S.Failure {}
    public func receive(subscription: any Subscription) {}
    public func receive(_ input: Input) -> Subscribers.Demand { .none }
    public func receive(completion: Subscribers.Completion<Failure>) {}
}
