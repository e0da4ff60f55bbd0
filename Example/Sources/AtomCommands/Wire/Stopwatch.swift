import AirlineServer
import Foundation

/// Seconds since its creation, on a clock that never runs backwards.
struct Stopwatch: Sendable {
    private let start = ContinuousClock.now

    var seconds: Double { Self.seconds(start.duration(to: .now)) }

    /// The same time for the server, so that its events and the client's fit
    /// into one picture.
    var serverClock: ServerClock { ServerClock { seconds } }

    /// Waits until this many seconds have passed; returns early when the task is cancelled.
    func sleep(until seconds: Double) async {
        try? await Task.sleep(until: start.advanced(by: .seconds(seconds)), clock: .continuous)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }
}
