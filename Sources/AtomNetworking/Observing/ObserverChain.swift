import Foundation

/// The observers of a service, in their order.
///
/// A list of objects: to call through an array of existentials takes longer than
/// all the rest of an event, as "three observers" of Tests/Benchmarks counts.
class ObserverChain: @unchecked Sendable {
    // Unchecked, because it has a subclass; the properties of both are constant and `Sendable`.
    fileprivate let next: ObserverChain?
    let wantsBodies: Bool

    fileprivate init(before next: ObserverChain?, wantsBodies: Bool) {
        self.next = next
        self.wantsBodies = wantsBodies || next?.wantsBodies ?? false
    }

    /// Tells this observer and those behind it; a loop would count references.
    func tell(_ event: RequestEvent) { next?.tell(event) }

    func tell(_ part: Data, of requestID: UInt64, attempt: Int) { next?.tell(part, of: requestID, attempt: attempt) }

    /// Lets the logs among them write a line that belongs to no event.
    func note(_ line: String, at level: LogLevel) { next?.note(line, at: level) }

    static func of(_ observers: [any RequestObserver]) -> ObserverChain? {
        observers.reversed().reduce(nil as ObserverChain?) { chain, observer in link(observer, before: chain) }
    }

    private static func link(_ observer: some RequestObserver, before next: ObserverChain?) -> ObserverChain {
        Link(observer, before: next)
    }

    private final class Link<Observer: RequestObserver>: ObserverChain, @unchecked Sendable {
        private let observer: Observer
        /// The same; `nil` if it wants no bodies.
        private let bodyObserver: (any BodyObserver)?

        init(_ observer: Observer, before next: ObserverChain?) {
            self.observer = observer
            bodyObserver = observer as? any BodyObserver
            super.init(before: next, wantsBodies: bodyObserver != nil)
        }

        override func tell(_ event: RequestEvent) {
            observer.observe(event)
            next?.tell(event)
        }

        override func note(_ line: String, at level: LogLevel) {
            (observer as? RequestLog)?.note(line, at: level)
            next?.note(line, at: level)
        }

        override func tell(_ part: Data, of requestID: UInt64, attempt: Int) {
            bodyObserver?.observe(part, of: requestID, attempt: attempt)
            next?.tell(part, of: requestID, attempt: attempt)
        }
    }
}
