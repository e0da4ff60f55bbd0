import AtomNetworking
import Foundation

/// A line of the mileage account.
public struct Activity: Model, Identifiable, Hashable {
    /// Counted from 1, the oldest.
    public let number: Int
    /// What the member did.
    public let title: String
    /// What it earned.
    public let miles: Int

    /// The number.
    public var id: Int { number }
}

/// A page of the mileage account.
struct ActivityPage: Model {
    let activities: [Activity]
    /// The link to the next page.
    let next: String?
}

/// What the server has received.
struct Receipt: Model {
    let bytes: Int
}

/// What miles were spent for.
struct Upgrade: Model {
    let flight: String
    let cabin: String
}
