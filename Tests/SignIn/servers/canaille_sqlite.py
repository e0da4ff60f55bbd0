"""Canaille, an identity provider made of Authlib: OpenID Connect with PKCE and RFC 9207, revocation.

    canaille_sqlite.py PORT

Its store in memory finds a wrong code where there are two, and so it keeps everything in a file.
"""
import datetime
import os
import signal
import sys
import tempfile

# Plain HTTP, on this device.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import canaille
from canaille.app import models
from canaille.backends import Backend

port = int(sys.argv[1])
folder = tempfile.TemporaryDirectory()
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
app = canaille.create_app({
    "SECRET_KEY": "of this run only", "SERVER_NAME": f"127.0.0.1:{port}", "PREFERRED_URL_SCHEME": "http",
    "CANAILLE": {"DATABASE": "sql", "LOGGING": {"version": 1}, "MAX_PASSWORD_LENGTH": 100},
    "CANAILLE_SQL": {"DATABASE_URI": f"sqlite:///{folder.name}/database"},
    "CANAILLE_OIDC": {}})
with app.app_context():
    Backend.instance.save(models.User(
        user_name="ada", formatted_name="Ada", family_name="Lovelace", password="analytical engine",
        emails=["ada@example.com"]))
    client = models.Client(
        client_id="app", client_name="App", client_secret="difference-engine",
        client_id_issued_at=datetime.datetime.now(datetime.timezone.utc),
        # It compares the whole address, and so wants the port (against RFC 8252 §7.3).
        redirect_uris=[f"http://127.0.0.1:{port + 1}/callback"], token_endpoint_auth_method="client_secret_basic",
        grant_types=["authorization_code", "refresh_token"], response_types=["code"],
        scope=["openid", "profile", "email"])
    Backend.instance.save(client)
    client.audience = [client]
    Backend.instance.save(client)
print("ready", flush=True)
app.run("127.0.0.1", port, use_reloader=False)
