"""oidc-provider-mock, a server for tests of apps: OpenID Connect without PKCE.

    provider_mock.py PORT

It takes any client, any redirect URI, and any name without a word; it ignores the challenge of PKCE.
"""
import os
import sys

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import oidc_provider_mock

application = oidc_provider_mock.app()
print("ready", flush=True)
application.run("127.0.0.1", int(sys.argv[1]), use_reloader=False)
