import AtomNetworkingTesting
import Foundation

/// Sign-ins on another device (RFC 8628): the codes, and the page on which a user enters one.
struct DeviceEndpoints {
    static let (path, pagePath) = ("/oauth/device", "/device")

    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "POST \(Self.path)": { begin($0) },
            "GET \(Self.pagePath)": { request in
                state.withLock { state in
                    state.counters.pages += 1
                    return Self.page(request.query("user_code") ?? "", state).response()
                }
            },
            "POST \(Self.pagePath)": { submit($0) },
        ]
    }

    private struct Begun: Encodable {
        let deviceCode: String
        let userCode: String
        let verificationURI: String
        let verificationURIComplete: String
        let expiresIn = AuthorizationLedger.pageLifetime
        let interval: Int
    }

    private func begin(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        state.withLock { state in
            do throws(OAuthRefusal) {
                let client = try RegisteredClient(of: request)
                guard client.secret == nil else {
                    throw OAuthRefusal("unauthorized_client", "Only a client without a secret can use this grant.")
                }
                try AuthorizationRequest.checkResources(
                    request.formItems.map { ($0.name, $0.value) }, at: state.issuer)
                let interval = state.policy.deviceInterval
                let codes = state.authorizations.addDevice(
                    of: client, scopes: try Set(request.form("scope")), interval: interval, now: .now)
                let page = state.issuer + Self.pagePath
                let begun = Begun(
                    deviceCode: codes.deviceCode, userCode: codes.userCode, verificationURI: page,
                    verificationURIComplete: "\(page)?user_code=\(codes.userCode)", interval: interval)
                return .encoding(
                    begun, headers: [("Cache-Control", "no-store")], names: .convertToSnakeCase)
            } catch {
                return error.response
            }
        }
    }

    private static func page(
        _ userCode: String, _ state: ServerState, user: String = "", message: String = ""
    ) -> SignInPage {
        let form = SignInPage.Form(
            path: pagePath, wish: state.authorizations.device(userCode: userCode, now: .now), userCode: userCode,
            user: user)
        return SignInPage(title: "Connect a device", message: message, form: form)
    }

    private func submit(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        state.withLock { state in
            let code = request.form("user_code") ?? ""
            func again(_ message: String) -> LoopbackServer.Response {
                Self.page(code, state, user: request.form("username") ?? "", message: message).response()
            }
            guard state.authorizations.device(userCode: code, now: .now) != nil else {
                return again("The code is wrong, used, or too old.")
            }
            if request.form("action") == "cancel" {
                state.authorizations.decide(userCode: code, user: nil, now: .now)
                return SignInPage(title: "The device gets no access").response()
            }
            guard let user = AirlineServer.user(of: request) else {
                return again("The user name or the password is wrong.")
            }
            state.authorizations.decide(userCode: code, user: user, now: .now)
            return SignInPage(title: "The device is connected. You can close this page.").response()
        }
    }
}
