import Foundation

/// The server's clock.
///
/// It measures token lifetimes, so that a test can let a token expire without
/// waiting:
///
/// ```swift
/// let time = ManualTime()
/// let server = try await AirlineServer.start(clock: ServerClock { time.now })
/// time.advance(by: 3600)
/// ```
public struct ServerClock: Sendable {
    /// Seconds since a fixed moment; never runs backwards.
    public let now: @Sendable () -> TimeInterval

    /// Creates a clock from a closure.
    public init(_ now: @escaping @Sendable () -> TimeInterval) {
        self.now = now
    }

    /// The machine's monotonic clock, counted from the moment of this call.
    public static func monotonic() -> ServerClock {
        let start = DispatchTime.now().uptimeNanoseconds
        return ServerClock { TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000 }
    }
}
