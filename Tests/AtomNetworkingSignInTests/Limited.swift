import Foundation
import Testing

nonisolated extension Trait where Self == Limited {
    /// Few tests run side by side, and each has five minutes.
    static var limited: Self { limited(minutes: 5) }

    static func limited(minutes: Int) -> Self { Limited(limit: .seconds(60 * minutes)) }
}

/// Gives each case of a test one of a few places, and from then on a limit.
///
/// Swift Testing starts all tests of a run at once, and its `.timeLimit` begins with
/// that: it measures how long the queue for the processors is.
///
/// After the limit a test fails and is cancelled. If that doesn't end it, the process
/// ends five minutes later. Either says which test it is and what it awaits.
///
/// Each package of the repository has this file, also one with the main actor as default.
nonisolated struct Limited: SuiteTrait, TestTrait, TestScoping {
    let limit: Duration

    var isRecursive: Bool { true }

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // The trait of the outermost suite takes the place, and the innermost has the limit.
        guard Self.run == nil else { return try await body() }
        let limit = test.traits.compactMap { $0 as? Self }.last?.limit ?? limit
        // What takes longest goes first, or the run would end with it alone on the processors.
        await Places.all.take(isFirst: limit > Self.limited.limit)
        defer { Places.all.giveBack() }
        try await Self.run("“\(test.displayName ?? test.name)” at \(test.sourceLocation)", within: limit, body)
    }

    nonisolated struct Overdue: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a test that has a place.
    static func run(
        _ test: String, within limit: Duration, more: Duration = .seconds(300),
        _ body: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let run = Run(of: test, limit: limit, more: more)
        try await $run.withValue(run) {
            try await withoutActuallyEscaping(body) { body in
                let task = Task { try await body() }
                run.begin { task.cancel() }
                let result = await task.result
                if let problem = run.end() { throw problem }
                try result.get()
            }
        }
    }

    /// Waits, and tells the test's limit for what.
    static func awaiting<T>(
        _ what: String, at place: SourceLocation, isolation: isolated (any Actor)? = #isolation,
        _ wait: () async -> T
    ) async -> T {
        let number = run?.note("\(what) at \(place)")
        defer {
            if let number { run?.forget(number) }
        }
        return await wait()
    }

    @TaskLocal static var run: Run?

    /// Who runs side by side: first come, first served, but for those that take longest.
    ///
    /// No test waits for another one, so every place is given back.
    nonisolated final class Places: @unchecked Sendable {
        /// More of them only make each test slower.
        static let all = Places(8)

        private let lock = NSLock()
        // Accessed only under `lock`.
        private var free: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ count: Int) { free = count }

        func take(isFirst: Bool = false) async {
            await withCheckedContinuation { continuation in
                let isFree = lock.withLock {
                    guard free == 0 else {
                        free -= 1
                        return true
                    }
                    waiting.insert(continuation, at: isFirst ? 0 : waiting.endIndex)
                    return false
                }
                if isFree { continuation.resume() }
            }
        }

        var waitingCount: Int { lock.withLock { waiting.count } }

        func giveBack() {
            let next: CheckedContinuation<Void, Never>? = lock.withLock {
                guard waiting.isEmpty else { return waiting.removeFirst() }
                free += 1
                return nil
            }
            next?.resume()
        }
    }

    /// A test that has a place.
    nonisolated final class Run: @unchecked Sendable {
        // Tests may block every other queue.
        private static let queue = DispatchQueue(label: "Limits of tests")

        private let test: String
        private let limit: Duration
        private let more: Duration
        private let timer = DispatchSource.makeTimerSource(queue: queue)
        private let lock = NSLock()
        // Accessed only under `lock`.
        private var problem: Overdue?
        private var cancel: (@Sendable () -> Void)?
        private var awaited: [Int: String] = [:]
        private var notes = 0

        init(of test: String, limit: Duration, more: Duration) {
            self.test = test
            self.limit = limit
            self.more = more
        }

        func begin(_ cancel: @escaping @Sendable () -> Void) {
            let isLate = lock.withLock {
                self.cancel = cancel
                return problem != nil
            }
            if isLate { cancel() }
            timer.schedule(deadline: .now() + limit / .seconds(1), repeating: more / .seconds(1))
            timer.setEventHandler { [self] in expire() }
            timer.activate()
        }

        /// The limit has passed, or the time after it.
        func expire() {
            let (problem, isFirst, cancel) = lock.withLock {
                let things = awaited.values.sorted().joined(separator: ", ")
                let awaits = things.isEmpty ? "" : " It awaits \(things)."
                let problem = Overdue(description: "\(test) hasn't ended within \(limit).\(awaits)")
                let isFirst = self.problem == nil
                if isFirst { self.problem = problem }
                return (problem, isFirst, self.cancel)
            }
            guard isFirst else { fatalError("\(problem) Nor has its cancellation ended it.") }
            cancel?()
        }

        /// What was wrong with the run.
        func end() -> Overdue? {
            timer.cancel()
            return lock.withLock { problem }
        }

        func note(_ what: String) -> Int {
            lock.withLock {
                notes += 1
                awaited[notes] = what
                return notes
            }
        }

        func forget(_ number: Int) { lock.withLock { _ = awaited.removeValue(forKey: number) } }
    }
}
