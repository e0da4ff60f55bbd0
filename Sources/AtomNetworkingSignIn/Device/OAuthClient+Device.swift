import AtomNetworking
import Foundation

extension OAuthClient {
    /// Begins a sign-in on another device (RFC 8628 §3.1).
    ///
    /// The request has the client's ``parameters`` too, such as an `audience`.
    ///
    /// - Parameter scopes: What is asked for; `nil` for ``scopes``.
    /// - Throws: ``SignInError/unsupported(_:)`` for a server without an endpoint for it, in an `AtomError`.
    public func deviceAuthorization(scopes: [String]? = nil) async throws(AtomError) -> DeviceAuthorization {
        guard let endpoint = server.deviceAuthorizationEndpoint else {
            throw .signIn(.unsupported("a sign-in on another device"))
        }
        try checkParameters()
        let scopes = scopes ?? self.scopes
        let request = ServerRequest(of: self)
        // Before it is sent: the server counts from when it answers.
        let (instant, date) = (request.time.now, request.time.date)
        let response = try await request.send(
            Self.scopeItems(scopes) + resourceItems + parameters, to: endpoint)
        return try DeviceAuthorization(response, scopes: scopes, sentAt: instant, date)
    }

    /// Asks for the tokens of a sign-in on another device until somebody has finished it (RFC 8628 §3.4).
    ///
    /// It waits as long as the server says before the first request and between two of them, and longer while the
    /// network, or the server, fails.
    ///
    /// - Throws: ``SignInError/declined``, ``SignInError/deviceCodeExpired`` or ``SignInError/refused(_:)``, in an
    ///   `AtomError`, or what is wrong with the response; `AtomError.cancelled` at once when the task is cancelled; and
    ///   a failure of the network only if the code expires before the next attempt.
    public func credential(for authorization: DeviceAuthorization) async throws(AtomError) -> TokenCredential {
        let request = ServerRequest(of: self)
        let form =
            [
                QueryItem(name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
                QueryItem(name: "device_code", value: authorization.deviceCode),
            ] + resourceItems
        var polling = DevicePolling(interval: authorization.interval, expiry: authorization.expiry)
        var next = try polling.begin(at: request.time.now)
        while true {
            try await request.time.wait(until: next)
            do throws(AtomError) {
                return try await request.credential(form, scopes: authorization.scopes)
            } catch {
                next = try polling.failed(error, at: request.time.now)
            }
        }
    }
}
