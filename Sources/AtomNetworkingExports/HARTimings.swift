import AtomNetworking

/// The parts of an entry's time (HAR 1.2, `timings`), in microseconds.
struct HARTimings: Equatable {
    /// Waiting for the session, for a slot, before another attempt, and for
    /// whatever the transport did between its own figures.
    var blocked: Int64
    /// `nil` where nothing was measured, or there was nothing to do.
    var dns: Int64?
    /// With the time of the TLS handshake, as HAR wants it.
    var connect: Int64?
    var ssl: Int64?
    /// From the first byte of the request to the first byte of the response.
    var wait: Int64
    var receive: Int64

    /// The time of the entry, which is the sum of its parts; `ssl` is a part of `connect`.
    var total: Int64 { blocked + (dns ?? 0) + (connect ?? 0) + wait + receive }

    /// Divides the time of an attempt.
    ///
    /// - Parameters:
    ///   - queued: The time before the request was handed to the transport.
    ///   - answered: The time from then to the head of the response; `nil` if there was none.
    ///   - ended: The time from then to the end.
    ///   - metrics: What the transport has measured.
    init(queued: Duration, answered: Duration?, ended: Duration, metrics: TransportMetrics?) {
        func whole(_ duration: Duration) -> Int64 { max(duration.nanoseconds, 0) / 1_000 }
        let secure = metrics?.secureConnection.map(whole)
        dns = metrics?.domainLookup.map(whole)
        ssl = secure
        connect = metrics?.connect.map { whole($0) + (secure ?? 0) } ?? secure
        let setUp = (dns ?? 0) + (connect ?? 0)
        let end = whole(ended)
        let head = min(whole(answered ?? ended), end)
        receive = metrics?.receiving.map(whole) ?? end - head
        wait = metrics?.waiting.map(whole) ?? max(head - setUp, 0)
        // The clocks are two, so the parts may be longer than the whole.
        blocked = whole(queued) + max(end - setUp - wait - receive, 0)
    }
}
