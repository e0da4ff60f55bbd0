import AtomNetworking
import Foundation
import Testing

/// Many concurrent callers, half of them async and half with completions, and
/// the result of each.
///
/// ```swift
/// let storm = CallerStorm(1_000)
/// await storm.begin { _ in atom.enqueue(endpoint) }
/// await storm.end()
/// #expect(storm.tally == CallerStorm.Tally(answered: 1_000))
/// ```
final class CallerStorm: Sendable {
    /// The number of callers with each result.
    struct Tally: Sendable, Equatable {
        /// One response with status 200.
        var answered = 0
        /// One cancellation that the test requested.
        var cancelled = 0
        /// One other error.
        var failed = 0
        /// No result.
        var lost = 0
        /// More than one result.
        var toldTwice = 0
        /// A cancellation that the test didn't request.
        var cancelledUnasked = 0
    }

    typealias Outcome = Result<AtomResponse, AtomError>

    private struct Caller {
        var outcomes: [Outcome] = []
        var cancel: (@Sendable () -> Void)?
        var wasCancelled = false
    }

    private struct State {
        var callers: [Caller]
        var silent: Int
    }

    let count: Int
    private let state: Locked<State>
    private let hasEnded = Signal()

    init(_ count: Int) {
        self.count = count
        state = Locked(State(callers: Array(repeating: Caller(), count: count), silent: count))
    }

    /// Starts all callers, on several threads.
    ///
    /// - Parameter service: Returns the service for the caller with this
    ///   number.
    func begin(_ service: @escaping @Sendable (Int) -> Service) async {
        let lanes = 4
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask { [self] in
                    for number in stride(from: lane, to: count, by: lanes) { begin(number, service(number)) }
                }
            }
        }
    }

    private func begin(_ number: Int, _ service: Service) {
        let isAsync = (number / 4).isMultiple(of: 2)
        let cancel: @Sendable () -> Void
        if isAsync {
            let task = Task { [self] in
                do throws(AtomError) {
                    heard(number, .success(try await service.resume()))
                } catch {
                    heard(number, .failure(error))
                }
            }
            cancel = { task.cancel() }
        } else {
            let task = service.resume { [self] in heard(number, $0) }
            cancel = { task.cancel() }
        }
        let isTooLate = state.with { state in
            // Who has heard keeps nothing: a running request knows its storm.
            if state.callers[number].outcomes.isEmpty { state.callers[number].cancel = cancel }
            return state.callers[number].wasCancelled
        }
        if isTooLate { cancel() }
    }

    /// Cancels a caller as soon as it has started.
    func cancel(_ number: Int) {
        let cancel = state.with { state in
            state.callers[number].wasCancelled = true
            return state.callers[number].cancel
        }
        cancel?()
    }

    private func heard(_ number: Int, _ outcome: Outcome) {
        let isLast = state.with { state in
            state.callers[number].outcomes.append(outcome)
            state.callers[number].cancel = nil
            if state.callers[number].outcomes.count == 1 { state.silent -= 1 }
            return state.silent == 0
        }
        if isLast { hasEnded.raise() }
    }

    /// Waits until every caller has a result.
    func end() async {
        await hasEnded.wait(seconds: 540)
    }

    /// The results so far.
    var tally: Tally {
        state.with { state in
            state.callers.reduce(into: Tally()) { tally, caller in
                switch (caller.outcomes.first, caller.outcomes.count) {
                case (nil, _): tally.lost += 1
                case (.success(let response), 1) where response.statusCode == 200: tally.answered += 1
                case (.failure(.cancelled), 1) where caller.wasCancelled: tally.cancelled += 1
                case (.failure(.cancelled), 1): tally.cancelledUnasked += 1
                case (_, 1): tally.failed += 1
                default: tally.toldTwice += 1
                }
            }
        }
    }

    /// The errors of the callers, without requested cancellations.
    var errors: [AtomError] {
        state.with { state in
            state.callers.flatMap(\.outcomes).compactMap { outcome in
                if case .failure(let error) = outcome, !error.isCancelled { error } else { nil }
            }
        }
    }
}
