import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a session knows of the bytes that it sent for one task.
///
/// An error's code doesn't say it: URLSession sends a request again over another
/// connection if the first one is lost, and the error is that of the last try.
enum RequestTrace: Sendable, Equatable {
    /// The session doesn't tell, as on Linux.
    case unknown
    /// No try began to send the request.
    case nothingSent
    /// At least one try may have sent a part of it.
    case mayHaveSent

    /// - Parameters:
    ///   - starts: When each try began to send the request; `nil` for a try that
    ///     didn't get so far.
    ///   - bodyBytes: The bytes of the body that were sent.
    init(starts: [Date?], bodyBytes: Int64) {
        // Without a try nothing is known: the metrics may be missing.
        let isSent = starts.isEmpty || bodyBytes > 0 || starts.contains { $0 != nil }
        self = isSent ? .mayHaveSent : .nothingSent
    }

    #if !canImport(FoundationNetworking)
        init(_ metrics: URLSessionTaskMetrics?, of task: URLSessionTask) {
            self.init(
                starts: metrics?.transactionMetrics.map(\.requestStartDate) ?? [], bodyBytes: task.countOfBytesSent)
        }
    #endif
}
