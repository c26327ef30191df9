"""A receiver of webhooks in Python, with nothing but the standard library. Run it with

    WEBHOOK_SECRET=whsec_… python3 receiver.py CERTIFICATE KEY ADDRESS
"""

import hashlib
import hmac
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# How old a delivery may be, in seconds: enough for a clock that is off, little
# enough that a delivery somebody recorded cannot be played again tomorrow.
TOLERANCE = 300


def verify(secret: str, header: str, body: bytes, now: float) -> None:
    """Raises ValueError unless a delivery was signed with the secret, now.

    body is what came over the wire, byte for byte: JSON that was parsed and
    written again has another signature.
    """
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    t, v1 = parts.get("t", ""), parts.get("v1", "")
    if not (t.isascii() and t.isdigit()):
        raise ValueError("the signature names no time")
    if abs(now - int(t)) > TOLERANCE:
        raise ValueError("the delivery is too old, or from the future")
    # The whole secret is the key, whsec_ included.
    want = hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(want.encode(), v1.encode()):  # in constant time
        raise ValueError("the signature does not fit")


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    secret = os.environ.get("WEBHOOK_SECRET", "")

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", "0")), 1 << 20))
        try:
            verify(self.secret, self.headers.get("X-Svc-Signature", ""), body, time.time())
            event = json.loads(body)
            # An event may come twice: remember event["id"] before you act on it.
            print("verified", event["id"], event["type"], flush=True)
            status = 204  # within ten seconds, or it counts as failed
        except (ValueError, KeyError, TypeError) as why:
            print("refused", why, flush=True)
            status = 400
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Says nothing beside what do_POST prints."""


def main() -> None:
    if not Receiver.secret or len(sys.argv) != 4:
        sys.exit("WEBHOOK_SECRET=whsec_… python3 receiver.py CERTIFICATE KEY ADDRESS")
    host, _, port = sys.argv[3].rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), Receiver)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    # The handshake belongs to the thread of its connection, not to the one that accepts.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print("listening", f"{host}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
