import Foundation

/// The notifications of the SDK.
///
/// They are posted on the configuration's queue, after the callers were told.
/// The object is `nil`, and `userInfo["error"]` is an ``AtomError``.
enum AtomNotification {
    static let didFailToAuthorizeRequest = Notification.Name("com.alaskaair.atom.didFailToAuthorizeRequest")
    static let didFailToRefreshAccessToken = Notification.Name("com.alaskaair.atom.didFailToRefreshAccessToken")

    /// An app's completion has been called: tells the app's handler and its observers, in this order.
    static func hasTold<T>(
        _ result: Result<T, AtomError>, _ handler: (@Sendable () -> Void)?, on queue: DispatchQueue
    ) {
        handler?()
        if case .failure(let error) = result { announceRefusal(error, on: queue) }
    }

    /// Posts that the server's final answer was 401, if it was.
    static func announceRefusal(_ error: AtomError, on queue: DispatchQueue) {
        // A 401 of the token endpoint is announced once for all who waited.
        switch error {
        case .response(let response) where response.statusCode == 401: break
        case .transfer(let failure) where failure.response?.statusCode == 401: break
        default: return
        }
        post(didFailToAuthorizeRequest, error, on: queue)
    }

    /// Posts that the session can't go on without a new sign-in, and that the
    /// token endpoint's final answer was 401, if the event says so.
    static func announce(_ event: SessionEvent, on queue: DispatchQueue) {
        if let reason = event.reasonToSignIn { post(didFailToRefreshAccessToken, .authentication(reason), on: queue) }
        if let reason = event.unauthorizedRefresh {
            post(didFailToAuthorizeRequest, .authentication(reason), on: queue)
        }
    }

    private static func post(_ name: Notification.Name, _ error: AtomError, on queue: DispatchQueue) {
        let post = { @Sendable in NotificationCenter.default.post(name: name, object: nil, userInfo: ["error": error]) }
        queue.async {
            #if canImport(Darwin)
                post()
            #else
                // Or an observer on `OperationQueue.main` would be waited for where it should run, if the program has
                // an asynchronous `main`: Foundation on Linux looks for its own operation, not for the queue.
                queue.label == DispatchQueue.main.label ? OperationQueue.main.addOperation(post) : post()
            #endif
        }
    }
}
