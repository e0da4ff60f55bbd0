import Foundation

/// The notifications that the SDK posts, object `nil`, `userInfo["error"]` an
/// ``AtomError``, on the configuration's queue after the callers were told.
enum AtomNotification {
    static let didFailToAuthorizeRequest = Notification.Name("com.alaskaair.atom.didFailToAuthorizeRequest")
    static let didFailToRefreshAccessToken = Notification.Name("com.alaskaair.atom.didFailToRefreshAccessToken")

    /// Posts that the server's final answer was 401, if it was.
    static func announceRefusal(_ error: AtomError, on queue: DispatchQueue) {
        // A token endpoint's 401 is no answer to the request.
        guard case .response(let response) = error, response.statusCode == 401 else { return }
        post(didFailToAuthorizeRequest, error, on: queue)
    }

    /// Posts that the session can't go on without a new sign-in.
    static func announce(_ reason: AuthenticationError, on queue: DispatchQueue) {
        post(didFailToRefreshAccessToken, .authentication(reason), on: queue)
    }

    private static func post(_ name: Notification.Name, _ error: AtomError, on queue: DispatchQueue) {
        queue.async {
            NotificationCenter.default.post(name: name, object: nil, userInfo: ["error": error])
        }
    }
}
