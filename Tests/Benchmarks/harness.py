"""Shared code of the benchmark scripts: a server, a build, and counting."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

# 193 bytes; with X-Request-Id, nginx sends six header fields.
FLIGHT = (
    '{"number":"AS1234","origin":"SEA","destination":"SFO","departure":"2030-01-01T08:00:00Z","gate":"N12A",'
    '"seats":178,"codeshares":["AA7010","QF3456","BA6789","JL5921","AY5512"],"isDelayed":false}'
)
TOKEN = (
    '{"access_token":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIwOTg3NjU0MzIxIn0.c2lnbmF0dXJl","expires_in":3600,'
    '"refresh_token":"R1"}'
)
FEW = "/flight"
# 21 header fields, one of them Set-Cookie.
MANY = "/flight-with-many-fields"

# Fresh for a day.
KEPT = "/flight-to-keep"

# A few fields, and a `Set-Cookie`.
COOKIE = "/flight-with-cookie"
MOST = "/flight-with-64-fields"
# So many bytes.
LARGE, LARGER = (f"/bytes-{1 << power}" for power in (16, 20))

# Only this one is logged: with the protocol and the number of the connection.
LOGGED = "/flight-logged"

# Where Foundation and most builds of libcurl on Debian and Ubuntu find the
# authorities that they trust.
SYSTEM_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"

NGINX = """
daemon off;
worker_processes 1;
error_log stderr error;
pid {folder}/nginx.pid;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000;
    keepalive_timeout 300s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    default_type application/json;
    log_format exchange '$server_protocol $connection';
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        listen 127.0.0.1:{secure_port} ssl http2 backlog=4096;
        listen 127.0.0.1:{http1_port} ssl backlog=4096;
        location = /flight {{
            add_header X-Request-Id 4f1c2b9a;
            return 200 '{flight}';
        }}
        location = /flight-with-cookie {{
            add_header X-Request-Id 4f1c2b9a;
            {cookie}
            return 200 '{flight}';
        }}
        location = /flight-with-many-fields {{
            {many}
            {cookie}
            return 200 '{flight}';
        }}
        location = /flight-with-64-fields {{
            {most}
            {cookie}
            return 200 '{flight}';
        }}
        location /bytes- {{ root {folder}; }}
        location = /flight-to-keep {{
            add_header Cache-Control max-age=86400;
            return 200 '{flight}';
        }}
        location = /flight-logged {{
            access_log {folder}/exchanges exchange;
            return 200 '{flight}';
        }}
        location = /token {{ return 200 '{token}'; }}
    }}
    # Closes each connection after one response.
    server {{
        listen 127.0.0.1:{closing_port} ssl backlog=4096;
        keepalive_requests 1;
        location = /flight {{
            add_header X-Request-Id 4f1c2b9a;
            return 200 '{flight}';
        }}
    }}
}}
"""


class Server:
    """nginx if it is installed, otherwise the tests' own server, in a separate process.

    Only nginx has origins with TLS: `secure_origin` with HTTP/2, `http1_origin` with HTTP/1.1, and `closing_origin`,
    which closes each connection after one response. Their certificate is from an authority that only the programs of `trusting` trust.
    """

    def __init__(self, scratch, wants_nginx=True):
        self.folder = tempfile.mkdtemp(prefix="atom-benchmarks-")
        # nginx reads files as another user if root starts it.
        os.chmod(self.folder, 0o755)
        # /usr/sbin is often only in an administrator's PATH.
        folders = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
        # Without openssl there is no certificate for it.
        nginx = shutil.which("nginx", path=folders) if wants_nginx and shutil.which("openssl") else None
        self.name = "nginx" if nginx else "the tests' own server"
        self.secure_origin = self.http1_origin = self.closing_origin = None
        if nginx:
            self.port, secure_port, http1_port, closing_port = free_ports(4)
            self.secure_origin, self.http1_origin, self.closing_origin = (
                f"https://127.0.0.1:{port}" for port in (secure_port, http1_port, closing_port))
            make_certificate(self.folder)
            fields = [f'add_header X-Field-{number} "value {number}";' for number in range(1, 59)]
            for path in (LARGE, LARGER):
                Path(self.folder + path).write_bytes(bytes(int(path.split("-")[1])))
            configuration = os.path.join(self.folder, "nginx.conf")
            with open(configuration, "w", encoding="utf-8") as file:
                file.write(
                    NGINX.format(
                        folder=self.folder, port=self.port, secure_port=secure_port, http1_port=http1_port,
                        closing_port=closing_port, flight=FLIGHT, token=TOKEN,
                        cookie='add_header Set-Cookie "seat=12A; Path=/; HttpOnly";', most="\n".join(fields),
                        many="\n".join(fields[:15]))
                )
            self.process = subprocess.Popen(
                [nginx, "-p", self.folder, "-c", configuration], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        else:
            flight, token = os.path.join(self.folder, "flight"), os.path.join(self.folder, "token")
            Path(flight).write_text(FLIGHT, encoding="utf-8")
            Path(token).write_text(TOKEN, encoding="utf-8")
            self.process = subprocess.Popen(
                [program("server", scratch), flight, token], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.port = int(self.process.stdout.readline())
        self.origin = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        for _ in range(200):
            if self.process.poll() is not None:
                message = self.process.stderr.read().decode() if self.process.stderr else ""
                sys.exit(f"error: {self.name} ended: {message}")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                time.sleep(0.05)
        sys.exit(f"error: {self.name} doesn't listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def trusting(self, command):
        """A command with the server's authority among the system's, in its own mount namespace.

        Foundation on Linux trusts only the system's authorities.
        """
        bundle = os.path.join(self.folder, "authorities.pem")
        script = f'mount --bind "$0" {SYSTEM_AUTHORITIES} && exec "$@"'
        return ["unshare", "-m", "sh", "-c", script, bundle, *command]

    def reason_without_tls(self):
        """Why nothing can be measured over TLS; `None` if it can."""
        if not self.secure_origin:
            return "nginx or openssl is not installed"
        if not os.path.exists(SYSTEM_AUTHORITIES) or shutil.which("unshare") is None:
            return "this system's authorities can't be replaced"
        result = subprocess.run(self.trusting(["true"]), capture_output=True, text=True)
        return "this user can't mount over the system's authorities" if result.returncode else None

    def exchanges(self):
        """The protocol and the number of the connection of each exchange with `LOGGED` since the last call."""
        # nginx logs an exchange after the client has its response.
        time.sleep(0.2)
        log = Path(self.folder, "exchanges")
        found = [tuple(line.split()) for line in log.read_text(encoding="utf-8").splitlines()]
        os.truncate(log, 0)
        return found


def make_certificate(folder):
    """Makes a server's certificate, and a bundle of the system's authorities and the one that signed it."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=folder, capture_output=True)

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    extensions = Path(folder, "extensions")
    extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n", encoding="utf-8")
    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Benchmarks")
    openssl("req", *new, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    openssl(
        "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
        "-extfile", extensions.name, "-days", "2", "-out", "server.pem")
    system = Path(SYSTEM_AUTHORITIES)
    authorities = Path(folder, "ca.pem").read_bytes() + (system.read_bytes() if system.exists() else b"")
    Path(folder, "authorities.pem").write_bytes(authorities)


def free_ports(number):
    listeners = [socket.socket() for _ in range(number)]
    for listener in listeners:
        listener.bind(("127.0.0.1", 0))
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def build(scratch, package=PACKAGE, allows_warnings=True):
    command = ["swift", "build", "-c", "release", "--package-path", str(package), "--scratch-path", str(scratch)]
    if sys.platform == "linux":
        # Valgrind fails on some debug information of clang.
        command += ["-Xlinker", "--strip-debug"]
    if not allows_warnings:
        command += ["-Xswiftc", "-warnings-as-errors"]
    subprocess.run(command, check=True, stdout=sys.stderr)


def has_ended(connection):
    try:
        return connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


class Streams:
    """A server that answers each connection at once with the head of a response that never ends."""

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.origin = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        try:
            while True:
                connection, _ = self.listener.accept()
                # Those of the program before.
                while self.connections and has_ended(self.connections[0]):
                    self.connections.pop(0).close()
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                self.connections.append(connection)
        except OSError:
            pass

    def __exit__(self, *_):
        self.listener.close()
        for connection in self.connections:
            connection.close()

    def command(self, count, command):
        return ["env", f"STREAMS={count}", f"STREAMS_ORIGIN={self.origin}", *command]


def program(name, scratch):
    return str(Path(scratch) / "release" / name)


class ProgramFailed(SystemExit):
    """Ends the script, unless a row of the table can say it."""


def run(arguments):
    """Runs a program and returns the `name=value` pairs that it prints."""
    with tempfile.TemporaryDirectory(prefix="atom-benchmarks-") as home:
        result = subprocess.run(arguments, capture_output=True, text=True, env=environment(home))
    if result.returncode:
        raise ProgramFailed(f"error: {' '.join(arguments)}\n{result.stdout}{result.stderr}")
    return dict(pair.split("=", 1) for pair in result.stdout.split() if "=" in pair)


def environment(home):
    # Foundation's shared storages keep files in these folders.
    return {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}


def instructions(arguments, profile=None, within=lambda command: command):
    """All instructions that a program executes, including libraries and start."""
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile or os.devnull}"]
    with tempfile.TemporaryDirectory(prefix="atom-benchmarks-") as home:
        result = subprocess.run(
            within([*valgrind, *arguments]), capture_output=True, text=True, env=environment(home))
    found = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode or not found:
        sys.exit(f"error: {' '.join(arguments)} under valgrind\n{result.stdout}{result.stderr}")
    return int(found[1])


def instructions_per_unit(arguments_for, few, many, within=lambda command: command):
    """Instructions for one more operation of a program, without start-up and warm-up."""
    first, second = (instructions(arguments_for(count), within=within) for count in (few, many))
    return (second - first) / (many - few)


def requests(scratch, client, origin, path, count, at_once=1, warm_up=0):
    """The command of a program that sends requests; a client whose name begins with `libcurl` is the C program's."""
    name = "libcurl-requests" if client.startswith("libcurl") else "requests"
    return [program(name, scratch), client, origin, path, *map(str, (count, at_once, warm_up))]


def instructions_of_requests(scratch, client, server, path, many, few=100):
    return instructions_per_unit(lambda count: requests(scratch, client, server.origin, path, count), few, many)


def instructions_over_tls(scratch, client, server, origin, many):
    return instructions_per_unit(
        lambda count: requests(scratch, client, origin, FEW, count), 100, many, within=server.trusting)


def instructions_of_decoding(scratch):
    return instructions_per_unit(lambda count: [program("decode", scratch), FLIGHT, str(count)], 1000, 3000)


def own_share(scratch):
    """Instructions, allocations and contended locks of a signed request with a transport that responds at once.

    Contended locks are the total of 20,000 requests; the rest is the cost of one request.
    """
    def counted(form):
        return {name: int(value) for name, value in run([program("share-counted", scratch), form, "20000"]).items()}

    def instructions_of(form):
        return instructions_per_unit(lambda count: [program("share", scratch), form, str(count)], 1000, 5000)

    described = {"instructions": instructions_of("describe"), **counted("describe")}
    figures = {}
    for form in ("async", "completion", "observed"):
        found = counted(form)
        figures[form] = {
            "instructions": instructions_of(form) - described["instructions"],
            "allocations": (found["allocations"] - described["allocations"]) / 20_000,
            "contended": found["contended"],
        }
    return figures
