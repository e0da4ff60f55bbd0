import AtomNetworking
import Foundation

/// A clock that only the test advances.
///
/// A service with this clock has no timeout, no pause and no expired token
/// before the test says so, and then at once. `Atom.scripted`
/// gives every service one; set `ServiceConfiguration.timeSource` elsewhere.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// let clock = ManualClock()
/// var configuration = ServiceConfiguration()
/// configuration.timeSource = clock
/// let atom = Atom(serviceConfiguration: configuration)
/// clock.advance(by: .seconds(30))
/// ```
///
/// Alarms go off only on the thread that advances the clock, one after the
/// other, before that call returns. An alarm for an instant that has passed goes
/// off with the next advance, also with an advance by zero. A service may leave
/// an alarm set that it no longer needs; it goes off for nothing then.
public final class ManualClock: TimeSource {
    private struct State {
        var instant = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        var date: Date
        var armed: [Int: MonotonicInstant] = [:]
        var rings: [Int: @Sendable () -> Void] = [:]
        var alarmsMade = 0
        var timesSet = 0
        /// How many alarms have been set for an instant that had come, since time has moved or a test has advanced it.
        var lateSettings = 0
        var patience = Duration.seconds(10)

        mutating func move(to later: MonotonicInstant) {
            guard later > instant else { return }
            let elapsed = instant.duration(to: later).components
            date += Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
            instant = later
            lateSettings = 0
        }
    }

    /// After how many of them time stands still.
    private static let mostLateSettings = 100_000

    private let state: Watched<State>
    private let onProblem: @Sendable (ScriptProblem) -> Void

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - date: What the wall clock shows; a day in September 2026 by default.
    ///   - onProblem: Hears that alarms go off without end, each of which sets the next one for the same instant: time
    ///     stands still then. And it hears of an alarm that the test has waited for in vain. By default that is
    ///     ``ScriptProblem/report(_:)``: an issue of the test that is running.
    public init(
        date: Date = Date(timeIntervalSince1970: 1_790_000_000),
        onProblem: @escaping @Sendable (ScriptProblem) -> Void = { ScriptProblem.report($0) }
    ) {
        state = Watched(State(date: date))
        self.onProblem = onProblem
    }

    /// The current time on the clock that never goes back.
    public var now: MonotonicInstant { state.withLock { $0.instant } }

    /// What the wall clock shows.
    public var date: Date { state.withLock { $0.date } }

    /// When the next alarm goes off; `nil` if none is set.
    public var nextAlarm: MonotonicInstant? { state.withLock { $0.armed.values.min() } }

    /// Whether an alarm is set for this instant.
    public func hasAlarm(at instant: MonotonicInstant) -> Bool {
        state.withLock { $0.armed.values.contains(instant) }
    }

    /// The number of alarms that exist, whether they are set or not.
    public var alarmCount: Int { state.withLock { $0.rings.count } }

    /// How often an alarm has been set.
    public var armings: Int { state.withLock { $0.timesSet } }

    /// Advances both clocks and lets the alarms go off that are due, in the order of time.
    ///
    /// Time stops at each alarm, so that its handler sees the requested instant and may set another alarm.
    ///
    /// - Parameter duration: How far; a negative one counts as zero.
    public func advance(by duration: Duration) {
        let end = state.withLock { state in
            state.lateSettings = 0
            return state.instant.advanced(by: max(duration, .zero))
        }
        while let ring = nextRing(until: end) {
            guard state.withLock({ $0.lateSettings < Self.mostLateSettings }) else {
                return onProblem(
                    ScriptProblem("An alarm is set again and again for an instant that has come: time stands still."))
            }
            ring()
        }
        state.withLock { $0.move(to: end) }
    }

    /// Advances both clocks to the next alarm, and lets all go off that are due then.
    ///
    /// - Returns: How far it was; `nil` if no alarm is set, and nothing has happened.
    @discardableResult
    public func advanceToNextAlarm() -> Duration? {
        let duration = state.withLock { state in
            state.armed.values.min().map { max(state.instant.duration(to: $0), .zero) }
        }
        if let duration { advance(by: duration) }
        return duration
    }

    /// Sets the wall clock, as a user or a time server does; the other clock stays.
    public func setDate(_ date: Date) { state.withLock { $0.date = date } }

    /// Shifts the wall clock, as a user or a time server does; the other clock stays.
    public func shiftDate(by seconds: TimeInterval) { state.withLock { $0.date += seconds } }

    /// Waits until an alarm is set that goes off within the duration from now.
    ///
    /// So a test can wait until the code under test has begun to wait. A service sets an alarm for each timeout too:
    /// give a duration that is shorter than those.
    ///
    /// - Parameters:
    ///   - duration: How far the alarm may be; `nil`, the default, for any alarm.
    ///   - fileID: The file of the test, for what it reports.
    ///   - filePath: The file of the test.
    ///   - line: The line of the test.
    /// - Returns: Whether there is such an alarm; `false` if the task is cancelled while it waits, or if nothing has
    ///   happened to the clock for ``patience``, which it reports.
    @discardableResult
    public func waitForAlarm(
        within duration: Duration? = nil, fileID: String = #fileID, filePath: StaticString = #filePath,
        line: Int = #line
    ) async -> Bool {
        let place = ScriptProblem.Place(fileID, filePath, line)
        let isSet: @Sendable (State) -> Bool = { state in
            guard let next = state.armed.values.min() else { return false }
            return duration.map { next <= state.instant.advanced(by: $0) } ?? true
        }
        let end = await state.wait(
            patience: patience, pulse: { [weak self] in (self?.pulse).map { [$0] } }, until: isSet)
        if end == .inVain {
            let range = duration.map { " within \($0)" } ?? ""
            let finding = "waitForAlarm waits for an alarm\(range), and none is set for \(patience). \(alarms)"
            onProblem(ScriptProblem(findings: [finding], source: place))
        }
        return end == .held
    }

    /// For how long, in real time, a test waits although nothing happens any more; ten seconds by default.
    ///
    /// Then ``ScriptedTransport/idle(fileID:filePath:line:)``, ``ScriptedTransport/exchange(_:fileID:filePath:line:)``
    /// and ``waitForAlarm(within:fileID:filePath:line:)`` report what they wait for, and return. A test that awaits a
    /// request itself can't be ended; what it waits for is written to standard error, once.
    ///
    /// The time counts only while other tasks get their turns, so a slow machine is no reason. Set it higher for code
    /// that does something else meanwhile, for example in `Task.sleep`.
    public var patience: Duration {
        get { state.withLock { $0.patience } }
        set { state.withLock { $0.patience = newValue } }
    }

    /// Changes when something has happened to the clock.
    var pulse: Int { state.withLock { $0.timesSet &+ Int(truncatingIfNeeded: $0.instant.nanoseconds) } }

    /// A sentence about the alarms that are set.
    var alarms: String {
        let pauses = state.withLock { state in
            state.armed.values.map { max(state.instant.duration(to: $0), .zero) }.sorted()
        }
        guard !pauses.isEmpty else { return "No alarm of the clock is set." }
        let shown = pauses.prefix(4).map { "\($0)" }.joined(separator: ", ")
        return "The clock has alarms in \(shown)" + (pauses.count > 4 ? " and later." : ".")
    }

    /// Creates an alarm, which isn't set yet.
    public func makeAlarm(ring: @escaping @Sendable () -> Void) -> any Alarm {
        state.withLock { state in
            state.alarmsMade += 1
            state.rings[state.alarmsMade] = ring
            return ManualAlarm(number: state.alarmsMade, clock: self)
        }
    }

    private func nextRing(until end: MonotonicInstant) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let (number, due) = state.armed.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }), due <= end
            else { return nil }
            state.armed[number] = nil
            state.move(to: due)
            return state.rings[number]
        }
    }

    private struct ManualAlarm: Alarm {
        let number: Int
        let clock: ManualClock

        func set(_ instant: MonotonicInstant) {
            clock.state.withLock { state in
                guard state.rings[number] != nil else { return }
                state.armed[number] = instant
                state.timesSet += 1
                if instant <= state.instant { state.lateSettings += 1 }
            }
        }

        func invalidate() {
            // The handler is released outside the lock: that may release other alarms.
            let ring = clock.state.withLock { state in
                state.armed[number] = nil
                return state.rings.removeValue(forKey: number)
            }
            withExtendedLifetime(ring) {}
        }
    }
}
