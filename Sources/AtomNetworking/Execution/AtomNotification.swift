import Foundation

/// The notifications that the SDK posts, object `nil`, `userInfo["error"]` an
/// ``AtomError``, on the configuration's queue after the callers were told.
enum AtomNotification {
    static let didFailToAuthorizeRequest = Notification.Name("com.alaskaair.atom.didFailToAuthorizeRequest")
    static let didFailToRefreshAccessToken = Notification.Name("com.alaskaair.atom.didFailToRefreshAccessToken")

    /// Posts that the server's final answer was 401, if it was.
    static func announceRefusal<T>(in result: Result<T, AtomError>, on queue: DispatchQueue) {
        guard case .failure(let error) = result, error.isAuthorizationFailure else { return }
        post(didFailToAuthorizeRequest, error, on: queue)
    }

    /// Posts that a refresh failed.
    static func announce(_ failure: AuthenticationError, on queue: DispatchQueue) {
        post(didFailToRefreshAccessToken, .authentication(failure), on: queue)
    }

    private static func post(_ name: Notification.Name, _ error: AtomError, on queue: DispatchQueue) {
        queue.async {
            NotificationCenter.default.post(name: name, object: nil, userInfo: ["error": error])
        }
    }
}
