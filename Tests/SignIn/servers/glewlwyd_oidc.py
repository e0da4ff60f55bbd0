"""Glewlwyd, a server in C: code with PKCE and RFC 9207, pushed requests, DPoP, devices, revocation.

    glewlwyd_oidc.py PORT [nonce]

With `nonce` a proof needs a nonce of the server. Then nothing can be pushed: where that is pushed, Glewlwyd refuses a
proof without a nonce and sends none (against RFC 9449 §8). It keeps everything in a folder that ends with it.
"""
import json
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

port = int(sys.argv[1])
needs_nonce = "nonce" in sys.argv[2:]
origin = f"http://127.0.0.1:{port}"
folder = tempfile.TemporaryDirectory()
database = pathlib.Path(folder.name, "glewlwyd.db")
schema = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
with sqlite3.connect(database) as connection:
    connection.executescript(schema.read_text())

# Debian's package has a folder where the pages look for this file.
pages = pathlib.Path(folder.name, "pages")
shutil.copytree("/usr/share/glewlwyd/webapp", pages, ignore=shutil.ignore_patterns("config.json"))
shutil.copy("/etc/glewlwyd/config-2.7.json/config.json", pages)

modules = "/usr/lib/glewlwyd"
configuration = pathlib.Path(folder.name, "glewlwyd.conf")
configuration.write_text(f"""
port={port}
bind_address="127.0.0.1"
external_url="{origin}"
login_url="login.html"
api_prefix="api"
static_files_path="{pages}/"
log_mode="console"
log_level="WARNING"
cookie_secure=0
session_expiration=2419200
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="{modules}/user"
client_module_path="{modules}/client"
user_auth_scheme_module_path="{modules}/scheme"
plugin_module_path="{modules}/plugin"
hash_algorithm="SHA512"
database = {{ type="sqlite3"; path="{database}"; }};
static_files_mime_types = (
  {{ extension=".html"; mime_type="text/html" }}, {{ extension=".css"; mime_type="text/css" }},
  {{ extension=".js"; mime_type="application/javascript" }}, {{ extension=".json"; mime_type="application/json" }}
)
""")
server = subprocess.Popen(["glewlwyd", f"--config-file={configuration}"])
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())


def call(method, path, content=None):
    request = urllib.request.Request(
        origin + "/api" + path, method=method, data=json.dumps(content).encode(),
        headers={"Content-Type": "application/json"})
    return browser.open(request).read()


def until_it_listens():
    for _ in range(100):
        try:
            return call("POST", "/auth/", {"username": "admin", "password": "password"})
        except urllib.error.URLError:
            time.sleep(0.1)
    sys.exit("error: Glewlwyd doesn't listen")


try:
    until_it_listens()
    key = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        check=True, capture_output=True, text=True).stdout
    public = subprocess.run(
        ["openssl", "rsa", "-pubout"], input=key, check=True, capture_output=True, text=True).stdout
    call("POST", "/mod/plugin/", {
        "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": {
            "iss": f"{origin}/api/oidc", "jwt-type": "rsa", "jwt-key-size": "256", "key": key, "cert": public,
            "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 60,
            "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True, "auth-type-token-enabled": False,
            "auth-type-id-token-enabled": False, "auth-type-none-enabled": False, "auth-type-password-enabled": False,
            "auth-type-client-enabled": False, "auth-type-refresh-enabled": True, "auth-type-device-enabled": True,
            "device-authorization-expiration": 600, "device-authorization-interval": 1,
            "subject-type": "public", "oauth-as-iss-id": True,
            "pkce-allowed": True, "pkce-method-plain-allowed": False, "pkce-required": True,
            "oauth-par-allowed": not needs_nonce, "oauth-par-required": False, "oauth-par-duration": 90,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60, "oauth-dpop-iat-gap-duration": 5,
            "oauth-dpop-nonce-mandatory": needs_nonce, "oauth-dpop-nonce-counter": 5,
            "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True}})
    for scope in ("notes", "files"):
        call("POST", "/scope/", {
            "name": scope, "display_name": scope, "description": scope, "password_required": False,
            "password_max_age": 0, "scheme": {}})
    call("POST", "/user/", {
        "username": "ada", "password": "analytical engine", "name": "Ada", "email": "ada@example.com",
        "scope": ["openid", "notes", "files", "g_profile"], "enabled": True})
    call("POST", "/client/", {
        "client_id": "app", "name": "App", "client_secret": "difference-engine", "enabled": True,
        # A public client can't revoke tokens, and this one only with a grant type that it doesn't use.
        "confidential": True, "scope": [], "token_endpoint_auth_method": ["client_secret_basic"],
        "authorization_type": ["code", "refresh_token", "device_authorization", "client_credentials"],
        # It compares the whole address, and so wants the port (against RFC 8252 §7.3).
        "redirect_uri": [f"http://127.0.0.1:{port + 1}/callback"]})
    print("ready", flush=True)
    server.wait()
finally:
    server.terminate()
    server.wait()
