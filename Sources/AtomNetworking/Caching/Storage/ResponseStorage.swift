import Foundation

/// Keeps responses of a ``ResponseCache`` where they outlive the process, such as a database of the app's.
///
/// A value is at least one byte. It has a body and header fields in it, and its own checksum: what the system lost with
/// its power is a response that isn't there. It belongs to a group. What was asked for without a credential is in one
/// group, and what was asked for with one is in a group of its person, whose name is a digest. The names of values and
/// groups have 1 to 64 characters: digits, lower-case letters and hyphens.
///
/// The cache calls all methods on a queue of its own, one at a time, and they may block it: no request waits for a
/// write, and a request that waits for a read for too long goes on without it. Other processes may use the same storage
/// at the same time. An error is noted in the log, and the requests go on; it must not contain a secret.
/// `checkResponseStorage(_:)` of AtomNetworkingTesting checks an implementation.
public protocol ResponseStorage: AnyObject, Sendable {
    /// Returns what was stored last, whole, and notes that it was used; `nil` if there is nothing, or not any more.
    func data(named name: String, in group: String) throws -> Data?

    /// Stores a value in place of an earlier one: whoever reads gets all of one or of the other, or nothing.
    ///
    /// If there is no room, what was used least recently goes. A value that is too large is dropped without an error,
    /// and the earlier one is removed. If it throws, the earlier one may stay.
    func store(_ data: Data, named name: String, in group: String) throws

    /// Removes a value, if there is one.
    func remove(named name: String, in group: String) throws

    /// Gives a group another name, because its person has other tokens now.
    ///
    /// If there is a group of that name, it gets the values that it doesn't have, and keeps its own. If that one has
    /// ended, the values are removed.
    func move(group: String, to other: String) throws

    /// Removes a group, whose person has signed out.
    ///
    /// For a day, whatever is stored in it is dropped without an error: another process may not know yet.
    func end(group: String) throws

    /// Removes all groups but one, also such as other processes have made; what is stored in them later is kept
    /// again, unless they have ended.
    func removeAll(except group: String?) throws
}
