import Foundation

/// Where the server's time comes from.
///
/// Token lifetimes are measured on it, so that a test can let a token expire
/// without waiting:
///
/// ```swift
/// let time = ManualTime()
/// let server = try await AirlineServer.start(clock: ServerClock { time.now })
/// time.advance(by: 3600)
/// ```
public struct ServerClock: Sendable {
    /// Seconds since some fixed moment; never runs backwards.
    public let now: @Sendable () -> TimeInterval

    /// A clock that asks a closure.
    public init(_ now: @escaping @Sendable () -> TimeInterval) {
        self.now = now
    }

    /// The machine's monotonic clock, counted from the moment of this call.
    public static func monotonic() -> ServerClock {
        let start = DispatchTime.now().uptimeNanoseconds
        return ServerClock { TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000 }
    }
}
