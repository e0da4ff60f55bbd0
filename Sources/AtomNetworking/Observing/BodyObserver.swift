import Foundation

/// An observer that hears the bodies of responses too, with their secrets.
package protocol BodyObserver: RequestObserver {
    /// Hears a part of the response to an attempt, decoded from its content coding;
    /// `ResponseBodyObserver` of AtomNetworkingExports says when.
    func observe(_ part: Data, of requestID: UInt64, attempt: Int)
}
