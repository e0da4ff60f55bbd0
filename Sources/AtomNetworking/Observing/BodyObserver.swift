import Foundation

/// An observer that hears the bodies of responses too, with their secrets.
package protocol BodyObserver: RequestObserver {
    /// Hears a part of a response's body, decoded from its content coding.
    ///
    /// When parts come, `ResponseBodyObserver` of AtomNetworkingExports says.
    ///
    /// - Parameters:
    ///   - part: The bytes.
    ///   - requestID: As in ``RequestEvent/requestID``.
    ///   - attempt: Which attempt the response answers, from 1.
    func observe(_ part: Data, of requestID: UInt64, attempt: Int)
}
