"""A server of the Model Context Protocol, made of its Python SDK: RFC 9728, 8414, 7591 and 8707.

    mcp_sdk.py PORT

The resource is /mcp, whose requests need the scope `tools`. Pages and storage are this file's; what is right and wrong
in a request is the SDK's.
"""
import html
import secrets
import sys
import time

from mcp.server.auth.provider import (
    AccessToken, AuthorizationCode, OAuthAuthorizationServerProvider, RefreshToken, construct_redirect_uri)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

port = int(sys.argv[1])
origin = f"http://127.0.0.1:{port}"


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self):
        self.clients, self.asked, self.codes, self.access, self.refresh = {}, {}, {}, {}, {}

    async def get_client(self, client_id): return self.clients.get(client_id)
    async def register_client(self, client): self.clients[client.client_id] = client

    async def authorize(self, client, params):
        name = secrets.token_urlsafe()
        self.asked[name] = (client, params)
        return f"{origin}/login?request={name}"

    def answer(self, name, allows):
        """Where the browser is sent when the person has answered."""
        client, params = self.asked.pop(name)
        if not allows:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code, client_id=client.client_id, scopes=params.scopes or [], expires_at=time.time() + 60,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource)
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    def issue(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=int(time.time()) + 3600,
            resource=resource)
        self.refresh[refresh] = (RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes), access)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=3600, scope=" ".join(scopes))

    async def load_authorization_code(self, client, code): return self.codes.get(code)

    async def exchange_authorization_code(self, client, code):
        del self.codes[code.code]
        return self.issue(client, code.scopes, code.resource)

    async def load_refresh_token(self, client, token): return self.refresh.get(token, (None, None))[0]

    async def exchange_refresh_token(self, client, token, scopes):
        _, access = self.refresh.pop(token.token)
        return self.issue(client, scopes, self.access.pop(access).resource)

    async def load_access_token(self, token): return self.access.get(token)

    async def revoke_token(self, token):
        for refresh, (value, access) in list(self.refresh.items()):
            if token.token in (refresh, access):
                del self.refresh[refresh]
                self.access.pop(access, None)


provider = Provider()
server = MCPServer(
    "Notes", auth_server_provider=provider, log_level="WARNING", auth=AuthSettings(
        issuer_url=origin, resource_server_url=f"{origin}/mcp", required_scopes=["tools"],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["profile", "tools"], default_scopes=["profile", "tools"]),
        revocation_options=RevocationOptions(enabled=True)))


@server.tool()
def count(text: str) -> int:
    """How many characters a text has."""
    return len(text)


@server.custom_route("/login", methods=["GET", "POST"])
async def login(request: Request) -> Response:
    form = await request.form()
    if (form.get("username"), form.get("password")) == ("ada", "analytical engine"):
        allows = form.get("answer") != "deny"
        return RedirectResponse(provider.answer(request.query_params["request"], allows), 302)
    return HTMLResponse(
        '<!doctype html><title>Sign in</title><form method="post"><input name="username">'
        '<input name="password" type="password"><button>Sign in</button>'
        '<button name="answer" value="deny">Deny</button></form>')


print("ready", flush=True)
server.run("streamable-http", port=port, stateless_http=True, json_response=True)
