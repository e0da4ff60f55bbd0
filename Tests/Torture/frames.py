"""Serves HTTP/2 over TLS as the lines of its standard input say, each a script in JSON.

The first line of its output is its certificate. "open" makes a port for a script, and
"report" says what a port has seen; each is answered with a line. It ends with its input.

To a request without a script for it the answer is "ok", the connection, the stream, and
the request's body, by which it is counted.
"""
import json, os, select, socket, ssl, subprocess, sys, tempfile, threading, time

PREFACE = 24
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
REFUSED_STREAM = 7
# How long nothing has to come before the streams are answered that a limit counts.
QUIET = 0.02


def make_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        key, pem = os.path.join(folder, "key"), os.path.join(folder, "pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=torture", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", key, "-out", pem],
            check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        context.load_cert_chain(pem, key)
        say(open(pem).read())
    context.set_alpn_protocols(["h2"])
    return context


def say(value):
    print(json.dumps(value), flush=True)


def frame(kind, flags, stream, body=b""):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


class Port:
    """What serves one script, and what has come there."""

    def __init__(self, script):
        self.script = script
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.number = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.connections = 0
        # How often the script has begun and ended.
        self.played, self.ended = 0, 0
        # By the bodies of requests: how often one was taken in, was refused, and got the head of a response.
        self.counts = {"taken": {}, "refused": {}, "answered": {}}
        self.reached = threading.Event()
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(plain,), daemon=True).start()

    def serve(self, plain):
        line = plain
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if plain.recv(1, socket.MSG_PEEK) != b"\x16":
                return self.serve_plain(plain)
            line = CONTEXT.wrap_socket(plain, server_side=True)
            with self.lock:
                self.connections += 1
                number = self.connections
                self.open.add(line)
            Connection(self, line, number).run()
        except (OSError, EOFError):
            # The client has left.
            pass
        finally:
            with self.lock:
                self.open.discard(line)
                line.close()

    def serve_plain(self, plain):
        """Without TLS the answer comes when the script is being played."""
        plain.recv(65536)
        self.reached.wait(10)
        plain.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nplain")

    def count(self, what, name, change=1):
        with self.lock:
            self.counts[what][name] = self.counts[what].get(name, 0) + change

    def report(self):
        with self.lock:
            return dict(self.counts, connections=self.connections, played=self.played, ended=self.ended)

    def close(self):
        socket.socket.shutdown(self.listener, socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for line in self.open:
                try:
                    socket.socket.shutdown(line, socket.SHUT_RDWR)
                except OSError:
                    pass


class Connection:
    def __init__(self, port, line, number):
        self.port, self.script, self.line, self.number = port, port.script, line, number
        self.buffer = bytearray()
        # The bodies of the streams whose requests haven't ended, and the streams to answer.
        self.bodies, self.waiting = {}, {}
        self.requests = 0

    def read(self, count):
        while len(self.buffer) < count:
            if self.waiting and not self.line.pending():
                quiet = select.poll()
                quiet.register(self.line, select.POLLIN)
                if not quiet.poll(QUIET * 1000):
                    if self.gathers() and max(self.waiting) > 1:
                        self.play(None)
                    self.answer_waiting()
            more = self.line.recv(65536)
            if not more:
                raise EOFError
            self.buffer += more
        part = bytes(self.buffer[:count])
        del self.buffer[:count]
        return part

    def run(self):
        self.read(PREFACE)
        time.sleep(self.script["lateness"])
        self.line.sendall(bytes.fromhex(self.script["settings"]))
        while True:
            head = self.read(9)
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            body = self.read(int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & 1:
                self.line.sendall(frame(SETTINGS, 1, 0))
            elif kind == PING and not flags & 1:
                self.line.sendall(frame(PING, 1, 0, body))
            elif kind == RST_STREAM:
                self.bodies.pop(stream, None)
                self.waiting.pop(stream, None)
            elif kind == HEADERS:
                self.bodies[stream] = b""
                self.requests += 1
                if self.begin(stream) and flags & 1:
                    self.end(stream)
            elif kind == DATA:
                if body:
                    more = len(body).to_bytes(4, "big")
                    self.line.sendall(frame(WINDOW_UPDATE, 0, 0, more))
                    if stream in self.bodies:
                        self.line.sendall(frame(WINDOW_UPDATE, 0, stream, more))
                if stream in self.bodies:
                    self.bodies[stream] += body
                    if flags & 1:
                        self.end(stream)

    def gathers(self):
        return self.script["gathers"] and self.number == 1 and self.port.played == 0

    def is_scripted(self, stream):
        return not self.script["gathers"] and self.number == 1 and stream == 2 * self.script["nth"] - 1 and bool(self.script["steps"])

    def begin(self, stream):
        """Returns whether the request is still open."""
        limit = self.script["limit"]
        if limit and len(self.bodies) + len(self.waiting) > limit:
            del self.bodies[stream]
            self.refuse(stream, "beyond the limit")
            return False
        if self.script["isEarly"] and self.is_scripted(stream):
            del self.bodies[stream]
            self.play(self.script["id"])
            return False
        return True

    def end(self, stream):
        # Of a body only the beginning is a name.
        name = self.bodies.pop(stream).decode().split(" ")[0]
        if self.is_scripted(stream):
            self.play(name)
        elif self.script["refusesAlways"] and name == self.script["id"]:
            self.refuse(stream, name)
        else:
            self.port.count("taken", name)
            self.waiting[stream] = name
            if not self.script["limit"] and not self.gathers():
                self.answer_waiting()

    def refuse(self, stream, name):
        self.port.count("refused", name)
        self.line.sendall(frame(RST_STREAM, 0, stream, REFUSED_STREAM.to_bytes(4, "big")))

    def answer_waiting(self):
        for stream, name in list(self.waiting.items()):
            self.port.count("answered", name)
            text = b"ok %d.%d %s" % (self.number, stream, name.encode())
            self.line.sendall(frame(HEADERS, 4, stream, b"\x88") + frame(DATA, 1, stream, text))
        self.waiting = {}

    def refuse_waiting(self, last):
        """Leaves those beyond a stream behind."""
        for stream in [stream for stream in self.waiting if stream > last]:
            name = self.waiting.pop(stream)
            self.port.count("taken", name, -1)
            self.port.count("refused", name)

    def play(self, name):
        if name is not None:
            self.port.count("refused" if self.script["refuses"] else "taken", name)
        if self.script["hasHead"]:
            self.port.count("answered", name)
        with self.port.lock:
            self.port.played += 1
        try:
            self.perform()
        finally:
            with self.port.lock:
                self.port.ended += 1

    def perform(self):
        line = self.line
        # All of it comes at once, up to a pause.
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        for what, value in self.script["steps"]:
            if what == "write":
                line.sendall(bytes.fromhex(value))
            elif what == "wait":
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
                time.sleep(float(value))
            elif what == "others":
                self.refuse_waiting(int(value))
                self.answer_waiting()
            elif what == "flood":
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
                part = bytes.fromhex(value)
                part *= max(1, 200_000 // len(part))
                for count in range(1 << 40):
                    line.sendall(part)
                    if count == 10:
                        self.port.reached.set()
            elif what == "alert":
                # It doesn't wait for the client's.
                line.setblocking(False)
                try:
                    line.unwrap()
                except (ssl.SSLError, OSError):
                    pass
                line.setblocking(True)
            elif what == "end":
                socket.socket.shutdown(line, socket.SHUT_WR)
            elif what == "reset":
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                line.close()
                raise EOFError
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        if any(what == "alert" for what, _ in self.script["steps"]):
            # Only the connection's own end is left to come.
            while socket.socket.recv(line, 65536):
                pass
            raise EOFError


CONTEXT = make_context()
PORTS = {}
for text in sys.stdin:
    command = json.loads(text)
    if "open" in command:
        port = Port(command["open"])
        PORTS[port.number] = port
        say(port.number)
    else:
        say(PORTS[command["report"]].report())
        if command["isLast"]:
            PORTS.pop(command["report"]).close()
