import Foundation

/// The notifications that the SDK posts, object `nil`, `userInfo["error"]` an
/// ``AtomError``.
enum AtomNotification {
    static let didFailToAuthorizeRequest = Notification.Name("com.alaskaair.atom.didFailToAuthorizeRequest")

    /// Posts what an outcome calls for; called after its caller has been told.
    static func announce<T>(_ result: Result<T, AtomError>) {
        guard case .failure(let error) = result, error.isAuthorizationFailure else { return }
        NotificationCenter.default.post(
            name: didFailToAuthorizeRequest, object: nil, userInfo: ["error": error])
    }
}
