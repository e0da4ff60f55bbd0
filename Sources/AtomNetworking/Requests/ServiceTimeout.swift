/// The deadlines of a request, in seconds.
public struct ServiceTimeout: Sendable, Hashable {
    /// The longest idle time on the wire, from the start of each attempt; it
    /// restarts whenever bytes are sent or received.
    public var request: Double

    /// The longest time from `resume` to the result, including waiting, redirects and retries.
    ///
    /// For a body that is read while it is sent it begins anew with each byte
    /// sent. For a download or a stream it ends with the head of the response.
    public var resource: Double

    /// Whether it stands for the service's.
    private(set) var isOfService = false

    /// Creates a pair of timeouts.
    ///
    /// Fractions count. Zero, negative numbers and NaN are rejected when a
    /// request is resumed, and more than a year counts as one year.
    public init(request: Double = 30, resource: Double = 30) {
        self.request = request
        self.resource = resource
    }

    /// The default of an endpoint whose timeout isn't optional.
    static let ofService: ServiceTimeout = {
        var timeout = ServiceTimeout()
        timeout.isOfService = true
        return timeout
    }()

    /// The validated timeouts of a request.
    func checked() throws(AtomError) -> RequestTimeouts {
        RequestTimeouts(
            idle: try Self.duration(request, "request"), total: try Self.duration(resource, "resource"))
    }

    private static func duration(_ seconds: Double, _ name: String) throws(AtomError) -> Duration {
        guard seconds > 0 else {
            throw .refused(
                RequestableError.invalidTimeout, "\(name): \(seconds)",
                because: "a timeout is a positive number of seconds")
        }
        return .seconds(min(seconds, Duration.year.seconds))
    }
}

/// Validated timeouts, in each form that a request needs, so that no request has to convert them.
struct RequestTimeouts: Sendable {
    /// The longest idle time on the wire.
    let idle: Duration
    /// The longest time until the result; only texts need it in this form.
    var total: Duration { .nanoseconds(totalNanoseconds) }
    let idleNanoseconds: Int64
    let totalNanoseconds: Int64

    init(idle: Duration, total: Duration) {
        self.idle = idle
        idleNanoseconds = idle.nanoseconds
        totalNanoseconds = total.nanoseconds
    }

    /// The total limited to a duration, which is rounded for texts.
    func ending(within duration: Duration) -> RequestTimeouts {
        let end = max(duration.brief, .milliseconds(1))
        return end < total ? RequestTimeouts(idle: idle, total: end) : self
    }
}
