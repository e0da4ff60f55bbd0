/// The observers of a service, in their order.
///
/// A list of objects: to call through an array of existentials takes longer than
/// all the rest of an event.
class ObserverChain: @unchecked Sendable {
    // Unchecked, because it has a subclass; the two properties of both are constant and `Sendable`.
    fileprivate let next: ObserverChain?

    fileprivate init(before next: ObserverChain?) { self.next = next }

    /// Tells an event to this observer and to those behind it.
    ///
    /// It calls itself: a loop would count references.
    func tell(_ event: RequestEvent) { next?.tell(event) }

    /// - Returns: `nil` if there are none.
    static func of(_ observers: [any RequestObserver]) -> ObserverChain? {
        observers.reversed().reduce(nil as ObserverChain?) { chain, observer in link(observer, before: chain) }
    }

    private static func link(_ observer: some RequestObserver, before next: ObserverChain?) -> ObserverChain {
        Link(observer, before: next)
    }

    private final class Link<Observer: RequestObserver>: ObserverChain, @unchecked Sendable {
        private let observer: Observer

        init(_ observer: Observer, before next: ObserverChain?) {
            self.observer = observer
            super.init(before: next)
        }

        override func tell(_ event: RequestEvent) {
            observer.observe(event)
            next?.tell(event)
        }
    }
}
