import Foundation
import Testing

@testable import AtomNetworking

@Suite("The delegate queue of a session", .limited)
struct CallbackQueueConcurrencyTests {
    private final class Journal: @unchecked Sendable {
        // Accessed only under `lock`.
        private let lock = NSLock()
        private var entries: [Int] = []
        private var running = 0
        private var most = 0

        var all: [Int] { lock.withLock { entries } }
        var count: Int { lock.withLock { entries.count } }
        var mostAtOnce: Int { lock.withLock { most } }

        func note(_ entry: Int) { lock.withLock { entries.append(entry) } }

        func enter() {
            lock.withLock {
                running += 1
                most = max(most, running)
            }
        }

        func leave() { lock.withLock { running -= 1 } }
    }

    private final class Token: Sendable {}

    private let queue = CallbackQueue()
    private let journal = Journal()

    /// Returns after all added blocks have run.
    private func finish() async {
        await withCheckedContinuation { continuation in
            queue.addOperation { continuation.resume() }
        }
    }

    @Test("Blocks run in the order in which they were added")
    func order() async {
        for number in 0..<1_000 { queue.addOperation { [journal] in journal.note(number) } }
        await finish()
        #expect(journal.all == Array(0..<1_000))
    }

    @Test("An urgent block runs after the running block and before all waiting ones")
    func urgent() async {
        let started = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        queue.addOperation { [journal] in
            started.signal()
            goOn.wait()
            journal.note(0)
        }
        await onAThreadOfItsOwn { started.wait() }
        for number in 3..<6 { queue.addOperation { [journal] in journal.note(number) } }
        queue.add(isUrgent: true) { [journal] in journal.note(1) }
        queue.add(isUrgent: true) { [journal] in journal.note(2) }
        goOn.signal()
        await finish()
        #expect(journal.all == [0, 1, 2, 3, 4, 5])
    }

    #if canImport(FoundationNetworking)
        @Test("The session's thread waits while many blocks do, and no block is lost")
        func limit() async {
            queue.patience = 3_600
            let added = Journal()
            let most = Journal()
            await onAThreadOfItsOwn { [queue, journal] in
                for number in 0..<20_000 {
                    queue.addOperation {
                        journal.note(number)
                        most.note(added.count - number)
                    }
                    added.note(number)
                }
            }
            await withCheckedContinuation { continuation in queue.add { continuation.resume() } }
            #expect(journal.all == Array(0..<20_000))
            #expect(most.all.max() ?? .max <= CallbackQueue.limit + 2)
        }

        @Test("A block that needs the session's thread gets it")
        func neededThread() async {
            queue.patience = 3_600
            let started = DispatchSemaphore(value: 0)
            let added = DispatchSemaphore(value: 0)
            queue.addOperation { [queue] in
                started.signal()
                // As `cancel()` of a task waits for the thread.
                queue.call { added.wait() }
            }
            await onAThreadOfItsOwn { started.wait() }
            await onAThreadOfItsOwn { [queue, journal] in
                for number in 0..<2_000 { queue.addOperation { journal.note(number) } }
                added.signal()
            }
            await withCheckedContinuation { continuation in queue.add { continuation.resume() } }
            #expect(journal.all == Array(0..<2_000))
        }

        @Test("A thread that waits is let go when another needs it")
        func heldThread() async {
            queue.patience = 3_600
            let started = DispatchSemaphore(value: 0)
            let isFull = DispatchSemaphore(value: 0)
            let added = DispatchSemaphore(value: 0)
            queue.addOperation { [queue] in
                started.signal()
                isFull.wait()
                queue.call { added.wait() }
            }
            await onAThreadOfItsOwn { started.wait() }
            await onAThreadOfItsOwn { [queue, journal] in
                for number in 0..<2_000 {
                    if number == CallbackQueue.limit { isFull.signal() }
                    queue.addOperation { journal.note(number) }
                }
                added.signal()
            }
            await withCheckedContinuation { continuation in queue.add { continuation.resume() } }
            #expect(journal.all == Array(0..<2_000))
        }

        @Test("A block that waits for the session's thread in another way gets it after some time")
        func patience() async {
            queue.patience = 0.001
            let added = DispatchSemaphore(value: 0)
            queue.addOperation { added.wait() }
            await onAThreadOfItsOwn { [queue, journal] in
                for number in 0..<(CallbackQueue.limit + 20) { queue.addOperation { journal.note(number) } }
                added.signal()
            }
            await withCheckedContinuation { continuation in queue.add { continuation.resume() } }
            #expect(journal.all == Array(0..<(CallbackQueue.limit + 20)))
        }
    #endif

    #if os(Linux)
        @Test("Callers that block all threads of GCD's pool hold up neither the queue nor a spooled body")
        func blockedPool() async {
            await #expect(processExitsWith: .success) {
                let (release, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                // More than there can be threads: what comes behind them waits for their end.
                let callers = 600
                for qos in [DispatchQoS.QoSClass.userInitiated, .default] {
                    for _ in 0..<callers { DispatchQueue.global(qos: qos).async { release.wait() } }
                }
                CallbackQueue().add { isDone.signal() }
                isDone.wait()
                let body = SpooledBody(.data(Data("x".utf8)))
                body.write {
                } completion: { failure in
                    if failure == nil { isDone.signal() }
                }
                isDone.wait()
                // The process may end before another thread has let go of the body, which removes its file.
                unlink(body.url.path)
                for _ in 0..<(2 * callers) { release.signal() }
            }
        }
    #endif

    @Test("An operation runs too, and a block may add another")
    func operations() async {
        queue.addOperation(BlockOperation { [journal] in journal.note(0) })
        await withCheckedContinuation { continuation in
            queue.addOperation { [queue, journal] in
                journal.note(1)
                queue.addOperation { continuation.resume() }
            }
        }
        #expect(journal.all == [0, 1])
    }

    @Test("Blocks of many threads run one at a time, each thread's in its order")
    func threads() async {
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask { [queue, journal] in
                    for number in 0..<500 {
                        let block: @Sendable () -> Void = {
                            journal.enter()
                            journal.note(thread * 1_000 + number)
                            journal.leave()
                        }
                        if thread == 0 { queue.add(isUrgent: true, block) } else { queue.addOperation(block) }
                    }
                }
            }
        }
        await finish()
        #expect(journal.all.count == 4_000 && journal.mostAtOnce == 1)
        for thread in 0..<8 {
            #expect(journal.all.filter { $0 / 1_000 == thread } == (0..<500).map { thread * 1_000 + $0 })
        }
    }

    @Test("A block is released after it has run, although others wait")
    func release() async {
        weak var released: Token?
        let started = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        do {
            let token = Token()
            released = token
            queue.addOperation { withExtendedLifetime(token) {} }
        }
        queue.addOperation {
            started.signal()
            goOn.wait()
        }
        queue.addOperation {}
        await onAThreadOfItsOwn { started.wait() }
        #expect(released == nil)
        goOn.signal()
        await finish()
    }
}
