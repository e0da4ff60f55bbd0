"""A server made of Authlib: code with PKCE and RFC 9207, OpenID Connect, devices, revocation; its issuer has a path.

    authlib_flask.py PORT

Pages and storage are this file's, as with everybody who uses Authlib; what is right in a request is Authlib's.
"""
import os
import secrets
import sys
import time

# Plain HTTP, on this device.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import flask
import joserfc.jwk
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2 import OAuth2Error, rfc6749, rfc6750, rfc7009, rfc7636, rfc8414, rfc8628, rfc9207
from authlib.oidc.core import OpenIDCode, OpenIDToken, UserInfo

port = int(sys.argv[1])
origin = f"http://127.0.0.1:{port}"
issuer = f"{origin}/tenant"
key = joserfc.jwk.RSAKey.generate_key(2048, {"kid": "1", "alg": "RS256"})
codes, tokens, devices, polls, grants = {}, [], {}, {}, {}


class Client(rfc6749.ClientMixin):
    def get_client_id(self): return "app"
    def get_default_redirect_uri(self): return None
    def get_allowed_scope(self, scope):
        return " ".join(word for word in scope.split() if word in ("openid", "notes", "files"))
    # Any port (RFC 8252 §7.3).
    def check_redirect_uri(self, uri):
        return uri.startswith("http://127.0.0.1:") and uri.endswith("/callback")
    def check_client_secret(self, secret): return False
    def check_endpoint_auth_method(self, method, endpoint): return method == "none"
    def check_response_type(self, response_type): return response_type == "code"
    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token", rfc8628.DEVICE_CODE_GRANT_TYPE)


class Code(rfc6749.AuthorizationCodeMixin):
    def __init__(self, **values): self.__dict__ |= values
    def get_redirect_uri(self): return self.redirect_uri
    def get_scope(self): return self.scope
    def get_nonce(self): return self.nonce
    def get_auth_time(self): return None
    def get_acr(self): return None
    def get_amr(self): return None


class Token(rfc6749.TokenMixin):
    def __init__(self, user, values):
        self.__dict__ |= values
        self.user, self.revoked, self.issued_at = user, False, time.time()

    def check_client(self, client): return True
    def get_scope(self): return self.scope
    def get_expires_in(self): return self.expires_in
    def is_expired(self): return self.issued_at + self.expires_in < time.time()
    def is_revoked(self): return self.revoked
    def get_user(self): return self.user
    def get_client(self): return Client()


def token_with(kind, value):
    return next((token for token in tokens if getattr(token, kind, None) == value), None)


class Identity:
    def resolve_client_private_key(self, client): return key
    def get_client_algorithm(self, client): return "RS256"
    def get_client_claims(self, client): return {"iss": issuer, "aud": ["app"]}
    def get_encode_header(self, client): return {"alg": "RS256", "kid": "1"}
    def generate_user_info(self, user, scope): return UserInfo(sub=user, name=user.title())


class CodeIdentity(Identity, OpenIDCode):
    def exists_nonce(self, nonce, request): return any(code.nonce == nonce for code in codes.values())


class DeviceIdentity(Identity, OpenIDToken):
    pass


class CodeGrant(rfc6749.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code, request):
        data = request.payload.data
        codes[code] = Code(
            code=code, user=request.user, redirect_uri=request.payload.redirect_uri, scope=request.payload.scope,
            nonce=data.get("nonce"), code_challenge=data.get("code_challenge"),
            code_challenge_method=data.get("code_challenge_method"))

    def query_authorization_code(self, code, client): return codes.get(code)
    def delete_authorization_code(self, code): del codes[code.code]
    def authenticate_user(self, code): return code.user


class RefreshGrant(rfc6749.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        token = token_with("refresh_token", refresh_token)
        return token if token and not token.revoked else None

    def authenticate_user(self, token): return token.user
    def revoke_old_credential(self, token): token.revoked = True


class DeviceGrant(rfc8628.DeviceCodeGrant):
    def query_device_credential(self, code): return devices.get(code)
    def query_user_grant(self, user_code): return grants.get(user_code)

    def should_slow_down(self, credential):
        last, polls[credential["device_code"]] = polls.get(credential["device_code"], 0), time.time()
        return time.time() < last + credential["interval"]


class DeviceEndpoint(rfc8628.DeviceAuthorizationEndpoint):
    INTERVAL = 1

    def get_verification_uri(self): return f"{issuer}/device"

    def save_device_credential(self, client_id, scope, data):
        devices[data["device_code"]] = rfc8628.DeviceCredentialDict(
            data, client_id=client_id, scope=scope, expires_at=time.time() + data["expires_in"])


class Revocation(rfc7009.RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none"]

    def query_token(self, value, hint): return token_with("refresh_token", value) or token_with("access_token", value)
    def revoke_token(self, token, request): token.revoked = True


class Issuer(rfc9207.IssuerParameter):
    def get_issuer(self): return issuer


class Bearer(rfc6750.BearerTokenValidator):
    def authenticate_token(self, value): return token_with("access_token", value)


app = flask.Flask(__name__)
app.secret_key = secrets.token_bytes(16)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(
    app, query_client=lambda name: Client() if name == "app" else None,
    save_token=lambda token, request: tokens.append(Token(request.user, token)))
server.register_grant(CodeGrant, [CodeIdentity(require_nonce=True), rfc7636.CodeChallenge(required=True)])
server.register_grant(RefreshGrant)
server.register_grant(DeviceGrant, [DeviceIdentity()])
server.register_endpoint(DeviceEndpoint(server))
server.register_endpoint(Revocation)
server.register_extension(Issuer())
protected = ResourceProtector()
protected.register_token_validator(Bearer())

page = """<!doctype html><title>Sign in</title><form method="post">
{% if not session.user %}<input name="username"><input name="password" type="password"><button>Sign in</button>
{% else %}<p>{{ what }}</p><button name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button>{% endif %}</form>"""


def ask(what):
    """The person's answer, or the page that asks."""
    form = flask.request.form
    if (form.get("username"), form.get("password")) == ("ada", "analytical engine"):
        flask.session["user"] = form["username"]
        return None, flask.redirect(flask.request.full_path)
    if flask.session.get("user") and "answer" in form:
        return form["answer"] == "allow", None
    return None, flask.render_template_string(page, what=what)


@app.route("/.well-known/oauth-authorization-server/tenant")
def metadata():
    document = rfc8414.AuthorizationServerMetadata({
        "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": f"{issuer}/token",
        "device_authorization_endpoint": f"{issuer}/device_authorization", "revocation_endpoint": f"{issuer}/revoke",
        "response_types_supported": ["code"], "scopes_supported": ["openid", "notes", "files"],
        "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": True})
    document.validate()
    return document


@app.route("/tenant/authorize", methods=["GET", "POST"])
def authorize():
    try:
        grant = server.get_consent_grant(end_user=flask.session.get("user"))
    except OAuth2Error as error:
        return server.handle_error_response(None, error)
    allows, response = ask(flask.request.args.get("scope"))
    if response is not None:
        return response
    return server.create_authorization_response(grant=grant, grant_user=flask.session["user"] if allows else None)


@app.route("/tenant/device", methods=["GET", "POST"])
def device():
    allows, response = ask(flask.request.args["user_code"])
    if response is not None:
        return response
    grants[flask.request.args["user_code"]] = (flask.session["user"], allows)
    return "You can close this page."


app.add_url_rule("/tenant/token", "token", server.create_token_response, methods=["POST"])
app.add_url_rule(
    "/tenant/device_authorization", "device_authorization", lambda: server.create_endpoint_response(
        "device_authorization"), methods=["POST"])
app.add_url_rule(
    "/tenant/revoke", "revoke", lambda: server.create_endpoint_response("revocation"), methods=["POST"])
for scope in ("notes", "files"):
    app.add_url_rule(f"/{scope}", scope, protected(scope)(lambda: {"user": current_token.user}))

print("ready", flush=True)
app.run("127.0.0.1", port)
