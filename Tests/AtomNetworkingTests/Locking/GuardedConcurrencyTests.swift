import Foundation
import Testing

@testable import AtomNetworking

@Suite("A value under its lock", .limited)
struct GuardedConcurrencyTests {
    private final class Token: Sendable {}

    @Test("Concurrent accesses run one after the other")
    func exclusion() {
        let numbers = Guarded((first: 0, second: 0, isOdd: false))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<2_000 {
                numbers.withLock { numbers in
                    numbers.first += 1
                    numbers.isOdd.toggle()
                    numbers.second = numbers.first
                }
            }
        }
        #expect(numbers.withLock { $0 } == (16_000, 16_000, false))
    }

    @Test("Copies guard one value")
    func sharing() {
        let first = Guarded([1])
        let second = first
        second.withLock { $0.append(2) }
        #expect(first.withLock { $0 } == [1, 2])
    }

    @Test("What the body returns or throws comes out, and the lock is free again")
    func outcomes() {
        let number = Guarded(1)
        #expect(number.withLock { $0 + 1 } == 2)
        #expect(throws: AtomError.self) {
            try number.withLock { number throws(AtomError) in
                number = 5
                throw .cancelled(.notSent)
            }
        }
        #expect(number.withLock { $0 } == 5)
    }

    @Test("The value is released with the last copy, and a replaced value at once")
    func lifetime() {
        weak var replaced: Token?
        weak var last: Token?
        do {
            let first = Token()
            replaced = first
            let guarded = Guarded<Token?>(first)
            let copy = guarded
            withExtendedLifetime(first) {}
            copy.withLock { $0 = Token() }
            last = guarded.withLock { $0 }
            #expect(last != nil)
        }
        #expect(replaced == nil && last == nil)
    }

    @Test("A value that was never accessed is released too")
    func unused() {
        weak var token: Token?
        do {
            let made = Token()
            token = made
            _ = Guarded(made)
        }
        #expect(token == nil)
    }
}
