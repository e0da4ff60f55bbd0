import AtomNetworkingTesting
import Foundation

/// The page that a client sends a browser to (RFC 6749 §3.1), and requests that are pushed before (RFC 9126).
struct AuthorizationEndpoints {
    static let (path, pushPath) = ("/oauth/authorize", "/oauth/par")

    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "GET \(Self.path)": { show($0) },
            "POST \(Self.path)": { submit($0) },
            "POST \(Self.pushPath)": { push($0) },
        ]
    }

    private func show(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        state.withLock { state in
            do throws(AuthorizationRequest.Failure) {
                let authorization = try Self.authorization(request, &state)
                state.counters.pages += 1
                let page = state.authorizations.openPage(for: authorization, now: .now)
                return Self.page(page, authorization).response()
            } catch {
                switch error {
                case .shown(let refusal):
                    return SignInPage(title: "Nobody can sign in here", message: refusal.description).response(400)
                case .sent(let refusal, let authorization):
                    return Self.redirect(to: authorization.callback(refusal, from: state.issuer))
                }
            }
        }
    }

    private static func authorization(
        _ request: LoopbackServer.Request, _ state: inout ServerState
    ) throws(AuthorizationRequest.Failure) -> AuthorizationRequest {
        guard let uri = request.query("request_uri") else {
            return try AuthorizationRequest(request.queryItems.map { ($0.name, $0.value) }, at: state.issuer)
        }
        let id = request.query("client_id")
        guard let pushed = state.authorizations.takePushed(uri, clientID: id, now: .now) else {
            throw .shown(OAuthRefusal("invalid_request", "The request is unknown, used, or too old. Start again."))
        }
        return pushed
    }

    private static func page(
        _ page: String, _ request: AuthorizationRequest, user: String = "", message: String = ""
    ) -> SignInPage {
        let form = SignInPage.Form(
            path: path, hidden: [("page", page)], wish: (request.client, request.scopes), user: user,
            redirectURI: request.redirectURI)
        return SignInPage(title: "Sign in", message: message, form: form)
    }

    private func submit(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        state.withLock { state in
            let page = request.form("page") ?? ""
            guard let authorization = state.authorizations.request(of: page, now: .now) else {
                let message = "It was used, or is too old. Start again in the app."
                return SignInPage(title: "This page has ended", message: message).response(400)
            }
            guard request.form("action") != "cancel" else {
                _ = state.authorizations.closePage(page, now: .now)
                let refusal = OAuthRefusal("access_denied", "The user has refused.")
                return Self.redirect(to: authorization.callback(refusal, from: state.issuer))
            }
            guard let user = AirlineServer.user(of: request),
                let code = state.authorizations.closePage(page, user: user, now: .now)
            else {
                return Self.page(
                    page, authorization, user: request.form("username") ?? "",
                    message: "The user name or the password is wrong."
                ).response()
            }
            return Self.redirect(to: authorization.callback([("code", code)], from: state.issuer))
        }
    }

    /// The browser sends no form again (RFC 9700 §4.12).
    private static func redirect(to callback: String) -> LoopbackServer.Response {
        .redirect(303, location: callback).adding("Cache-Control", "no-store").adding("Referrer-Policy", "no-referrer")
    }

    private struct Pushed: Encodable {
        let requestURI: String
        let expiresIn = AuthorizationLedger.codeLifetime
    }

    private func push(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        state.withLock { state in
            do throws(OAuthRefusal) {
                let client = try RegisteredClient(of: request)
                let key = try state.key(provenBy: request)
                var items = request.formItems.map { ($0.name, $0.value) }
                // The client may be in `Authorization` only.
                if request.form("client_id") == nil { items.append(("client_id", client.id)) }
                guard request.form("request_uri") == nil else {
                    throw OAuthRefusal("invalid_request", "A request_uri can't be pushed.")
                }
                // RFC 9449 §10.1: a proof stands for `dpop_jkt`.
                if let key, request.form("dpop_jkt") == nil { items.append(("dpop_jkt", key)) }
                guard key == nil || items.contains(where: { $0 == ("dpop_jkt", key ?? "") }) else {
                    throw OAuthRefusal("invalid_dpop_proof", "The key of the proof isn't that of dpop_jkt.")
                }
                let authorization: AuthorizationRequest
                do throws(AuthorizationRequest.Failure) {
                    authorization = try AuthorizationRequest(items, at: state.issuer)
                } catch {
                    throw error.refusal
                }
                let uri = state.authorizations.push(authorization, now: .now)
                return .encoding(
                    Pushed(requestURI: uri), status: 201, headers: [("Cache-Control", "no-store")],
                    names: .convertToSnakeCase)
            } catch {
                return error.response
            }
        }
    }
}
