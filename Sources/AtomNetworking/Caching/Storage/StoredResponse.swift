import Foundation

/// A response that a cache keeps.
struct StoredResponse: Sendable, Equatable {
    /// The URL that it is a response to.
    var address: String
    var statusCode: Int
    /// Without those that belong to one connection, and without cookies.
    var headerFields: HeaderFields
    var body: Data
    /// The request's fields that `Vary` names, with names in lower case; a field that wasn't sent has an empty value.
    var varying: [HeaderItem]
    /// When it was asked for, and when it came, by the wall clock.
    var requestedAt: Date
    var receivedAt: Date
    /// When it came to this process; `nil` if it came to another one.
    var receivedInstant: MonotonicInstant?
}
