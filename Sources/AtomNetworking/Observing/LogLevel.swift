/// How important a line of a log is.
public enum LogLevel: Sendable, Hashable, Comparable, CaseIterable {
    /// What a developer wants to know now and then.
    case debug
    /// The end of each attempt of a request.
    case info
    /// A request is sent again.
    case notice
    /// A request has failed because of the server or the network.
    case warning
    /// A request can't be sent, or the session is over.
    case error
}
