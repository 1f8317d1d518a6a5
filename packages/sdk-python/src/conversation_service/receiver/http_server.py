"""For the standard library: `listen(receiver, 4433, cert_file, key_file).serve_forever()`."""

from __future__ import annotations

import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .receiver import Receiver
from .verify import MAX_BODY_BYTES

#: Seconds without a byte, after which a connection is closed.
IDLE_SECONDS = 30


def listen(receiver: Receiver, port: int, cert_file: str, key_file: str) -> ThreadingHTTPServer:
    """An HTTPS server on this machine, for trying out. It accepts connections from now on."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert_file, key_file)
    server = ThreadingHTTPServer(("localhost", port), handler(receiver))
    # A handshake is made by the thread of its connection, so that none waits for another.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    """For a server of your own: `HTTPServer(address, handler(receiver))`."""

    class Handler(BaseHTTPRequestHandler):
        timeout = IDLE_SECONDS

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            # One byte more than is taken shows that a body is too large.
            size = min(int(length), MAX_BODY_BYTES + 1) if length.isdecimal() else 0
            body = self.rfile.read(size)
            self.send_response(receiver.handle(dict(self.headers.items()), body))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
