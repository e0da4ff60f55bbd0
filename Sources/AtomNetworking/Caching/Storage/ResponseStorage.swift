import Foundation

/// Keeps responses of a ``ResponseCache`` where they outlive the process, such as a database of the app's.
///
/// A value is opaque bytes, with a body and header fields in it, and belongs to a group: what was asked for without a
/// credential is in one, and what was asked for with one is in a group of its person, whose name is a digest. Names and
/// groups are made of digits, lower-case letters and hyphens, at most 64 of them.
///
/// All methods are called on a queue of the cache's own, one at a time, and may take their time: no request waits for a
/// write, and one that waits for a read for too long goes on without it. Several processes may use the same storage. An
/// error is noted in the log, and the requests go on. `checkResponseStorage(_:)` of AtomNetworkingTesting checks an
/// implementation.
public protocol ResponseStorage: AnyObject, Sendable {
    /// Returns what was stored last, whole, and notes that it was used; `nil` if there is nothing, or not any more.
    func data(named name: String, in group: String) throws -> Data?

    /// Stores a value in place of an earlier one: whoever reads gets all of one or of the other, or nothing.
    ///
    /// If there is no room, what was used least recently goes.
    func store(_ data: Data, named name: String, in group: String) throws

    /// Removes a value, if there is one.
    func remove(named name: String, in group: String) throws

    /// Gives a group another name, because its person has other tokens now; the values there already stay.
    func move(group: String, to other: String) throws

    /// Removes a group, whose person has signed out; what a process stores in it that doesn't know of that yet, within
    /// a day, is dropped.
    func end(group: String) throws

    /// Removes all groups but one.
    func removeAll(except group: String?) throws
}
