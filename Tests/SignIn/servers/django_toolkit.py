"""django-oauth-toolkit: code with PKCE and RFC 9207, OpenID Connect, devices, revocation, RFC 9728, step-up.

    django_toolkit.py PORT

It enforces the rules of RFC 9700 that it knows. The database is a file in a folder that ends with it.
"""
import pathlib
import signal
import socketserver
import sys
import tempfile
import wsgiref.simple_server

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

port = int(sys.argv[1])
origin = f"http://127.0.0.1:{port}"
folder = tempfile.TemporaryDirectory()
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
pathlib.Path(folder.name, "registration").mkdir()
pathlib.Path(folder.name, "registration", "login.html").write_text(
    '<title>Sign in</title><form method="post">{% csrf_token %}{{ form }}'
    '<input type="hidden" name="next" value="{{ next }}"><button>Sign in</button></form>')
key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="of this run only",
    ROOT_URLCONF=__name__,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder.name}/database"}},
    # As many rounds as are needed for a word that everybody knows.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware"],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [folder.name], "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.contrib.auth.context_processors.auth"]}}],
    LOGIN_URL="/login/",
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": key,
        "OIDC_ISS_ENDPOINT": origin,
        "SCOPES": {"openid": "Who you are", "notes": "Your notes", "files": "Your files"},
        "DEFAULT_SCOPES": ["notes"],
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "OAUTH_DEVICE_VERIFICATION_URI": f"{origin}/device/",
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda code: f"{origin}/device/?user_code={code}",
        "DEVICE_FLOW_INTERVAL": 1,
        **{f"COMPLIANT_BCP_RFC9700_{gate}": True for gate in (
            "IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT", "AUTHZ_RESPONSE_ISS",
            "TOKEN_STORAGE")}})
django.setup()

from django.contrib.auth import views
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path
from oauth2_provider.decorators import protected_resource
from oauth2_provider.models import Application


def resource(scope):
    @protected_resource(scopes=[scope], advertise_metadata=True)
    def answer(request):
        return JsonResponse({"user": request.resource_owner.username, "scope": scope})

    def named(request):
        response = answer(request)
        # The toolkit's challenge doesn't name the scope.
        if response.status_code == 403:
            response["WWW-Authenticate"] += f', scope="{scope}"'
        return response
    return named


urlpatterns = [
    path("", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("login/", views.LoginView.as_view()),
    path("notes", resource("notes")),
    path("files", resource("files")),
]

call_command("migrate", verbosity=0)
User.objects.create_user("ada", "ada@example.com", "analytical engine")
for name, grant in (("app", "authorization-code"), ("device", "urn:ietf:params:oauth:grant-type:device_code")):
    Application.objects.create(
        client_id=name, name=name, client_type="public", authorization_grant_type=grant, algorithm="RS256",
        redirect_uris="http://127.0.0.1/callback")


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


server = wsgiref.simple_server.make_server("127.0.0.1", port, get_wsgi_application(), server_class=Server)
print("ready", flush=True)
server.serve_forever()
