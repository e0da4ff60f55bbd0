/// How long a request may take, in seconds.
public struct ServiceTimeout: Sendable, Hashable {
    /// The longest silence on the wire, from the moment the request starts
    /// there: as long as bytes go either way, it doesn't run out.
    public var request: Double

    /// The longest time from `resume` to the outcome, whatever happens in
    /// between: waiting, redirects and retries included.
    public var resource: Double

    /// Makes a pair of timeouts.
    ///
    /// Fractions count; values that are zero, negative or not a number are
    /// refused when a request is resumed, and more than a year is a year.
    public init(request: Double = 30, resource: Double = 30) {
        self.request = request
        self.resource = resource
    }

    /// The two as a request goes by them.
    ///
    /// - Throws: ``RequestableError/invalidTimeout(_:)``.
    func checked() throws(AtomError) -> RequestTimeouts {
        RequestTimeouts(
            idle: try Self.duration(request, "request"), total: try Self.duration(resource, "resource"))
    }

    private static func duration(_ seconds: Double, _ name: String) throws(AtomError) -> Duration {
        guard seconds > 0 else {
            throw .requestable(
                .invalidTimeout(
                    .init(subject: "\(name): \(seconds)", reason: "a timeout is a positive number of seconds")))
        }
        return .seconds(min(seconds, Duration.year.seconds))
    }
}

/// Timeouts that have been checked, in each form that a request needs, so that
/// none has to be converted for it.
struct RequestTimeouts: Sendable {
    /// The longest silence on the wire.
    let idle: Duration
    /// The longest time until the outcome.
    let total: Duration
    let idleNanoseconds: Int64
    let totalNanoseconds: Int64

    init(idle: Duration, total: Duration) {
        self.idle = idle
        self.total = total
        idleNanoseconds = idle.nanoseconds
        totalNanoseconds = total.nanoseconds
    }
}
