"""A server that answers what a test says, byte for byte, where the real one cannot be made to."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType

PROBLEM = "application/problem+json"
# What an answer may be: the bytes, or something that is done with the connection. None: say nothing and wait.
Act = bytes | Callable[[socket.socket], None] | None


def answer(status: int, body: bytes | Mapping[str, object], kind: str = "application/json", **headers: str) -> bytes:
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    head += "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return head.encode() + b"\r\n" + body


def problem(status: int, code: str, **fields: object) -> bytes:
    about = {"type": "about:blank", "title": "t", "status": status, "detail": "d", "code": code, "requestId": "r"}
    return answer(status, {**about, **fields}, PROBLEM)


class Stub:
    """Answers request i with acts[i], and everything behind the last with the last."""

    def __init__(self, *acts: Act) -> None:
        self.requests: list[bytes] = []
        self._acts = acts
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []
        self._lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._acceptor = threading.Thread(target=self._accept)
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self._ended.is_set():
                connection.close()
                return
            with self._lock:
                self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client may have gone
            request = self._read(connection)
            if not request:
                return
            with self._lock:
                i = len(self.requests)
                self.requests.append(request)
            act = self._acts[min(i, len(self._acts) - 1)]
            if act is None:
                self._ended.wait()
            elif isinstance(act, bytes):
                connection.sendall(act)
            else:
                act(connection)

    def _read(self, connection: socket.socket) -> bytes:
        """One request: its head, and as much body as it says."""
        got = b""
        while b"\r\n\r\n" not in got:
            chunk = connection.recv(65536)
            if not chunk:
                return b""
            got += chunk
        head, _, body = got.partition(b"\r\n\r\n")
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        while len(body) < length:
            chunk = connection.recv(65536)
            if not chunk:
                break
            body += chunk
        return head + b"\r\n\r\n" + body

    def wait(self) -> None:
        """For an act that holds a connection until the test is over."""
        self._ended.wait()

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        with socket.create_connection(self._listener.getsockname()):
            self._acceptor.join()  # which this has woken
        self._listener.close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
