import AtomNetworking
import Foundation
import Testing

/// Many callers at once, every other one async and the rest with completions,
/// and what each of them heard.
///
/// ```swift
/// let storm = CallerStorm(1_000)
/// await storm.begin { _ in atom.enqueue(endpoint) }
/// await storm.end()
/// #expect(storm.tally == CallerStorm.Tally(answered: 1_000))
/// ```
final class CallerStorm: Sendable {
    /// How many callers heard what.
    struct Tally: Sendable, Equatable {
        /// 200, once.
        var answered = 0
        /// Its own cancellation, once.
        var cancelled = 0
        /// Another error, once.
        var failed = 0
        /// Nothing.
        var lost = 0
        /// More than one outcome.
        var toldTwice = 0
        /// A cancellation that it had not asked for.
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

    /// Starts all callers, from several threads.
    ///
    /// - Parameter service: Makes what the caller of a number resumes.
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
            state.callers[number].cancel = cancel
            return state.callers[number].wasCancelled
        }
        if isTooLate { cancel() }
    }

    /// Cancels a caller, as soon as it has begun.
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
            if state.callers[number].outcomes.count == 1 { state.silent -= 1 }
            return state.silent == 0
        }
        if isLast { hasEnded.raise() }
    }

    /// Waits until everybody has heard something.
    func end() async {
        await hasEnded.wait(seconds: 900)
    }

    /// What was heard by now.
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

    /// The errors that callers heard, without their own cancellations.
    var errors: [AtomError] {
        state.with { state in
            state.callers.flatMap(\.outcomes).compactMap { outcome in
                if case .failure(let error) = outcome, !error.isCancelled { error } else { nil }
            }
        }
    }
}
