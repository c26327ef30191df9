"""A real server for the tests, and one that a test can make misbehave."""

from __future__ import annotations

import json
import os
import queue
import signal
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

import pytest

from orgmem import Orgmem

T = TypeVar("T")

REPOSITORY = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("ORGMEM_TEST_BINARY") or REPOSITORY / "bin" / "orgmem")
PATIENCE = 60.0  # seconds that anything here may take to happen


@dataclass
class Server:
    """One process of the service with its data."""

    data: Path
    options: list[str] = field(default_factory=list)
    # Ports of the first start; a restart takes the same, as a service does.
    listen: str = "127.0.0.1:0"
    operator: str = "127.0.0.1:0"
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://{self.listen}"

    def start(self) -> None:
        command = [str(BINARY), "serve", "--quickstart", "--json", "--data", str(self.data)]
        command += ["--listen", self.listen, "--operator-listen", self.operator, *self.options]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ORGMEM_")}
        log = self.data.with_name(self.data.name + ".log")
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=out, env=environment
            )
        assert self.process.stdout is not None
        greeting = self.process.stdout.readline()
        assert greeting, f"the service did not start: {log.read_text()[-2000:]}"
        said = json.loads(greeting)
        self.listen = said["baseUrl"].removeprefix("http://")
        self.operator = said["operatorUrl"].removeprefix("http://")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends the process, and waits until it has."""
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None

    def organization(self, *options: str) -> str:
        """Makes an organization without rate limits, and returns its first key."""
        command = [str(BINARY), "org", "create", "--json", "--data", str(self.data)]
        command += ["--operator", f"http://{self.operator}", "--plan", "unlimited"]
        command += options or ("--personal",)
        name = uuid.uuid4().hex
        made = subprocess.run(
            [*command, "--name", name, "--owner-email", f"{name}@example.org"], check=True, capture_output=True
        )
        key: str = json.loads(made.stdout)["apiKey"]
        return key


class Receiver:
    """Takes deliveries of webhooks on https://localhost."""

    def __init__(self, folder: Path) -> None:
        self.certificate = folder / "webhook-listen.pem"
        # The command makes a certificate before it finds that nobody answers there.
        listen = [str(BINARY), "webhook", "listen", "--base", "http://127.0.0.1:9"]
        listen += ["--certificate", str(self.certificate)]
        subprocess.run(listen, env={**os.environ, "ORGMEM_API_KEY": "none"}, capture_output=True)
        deliveries: queue.Queue[tuple[Mapping[str, str], bytes]] = queue.Queue()
        self.deliveries = deliveries

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                deliveries.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Says nothing."""

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: object, client_address: object) -> None:
                """Says nothing of a client that does not trust the certificate."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        self.url = f"https://localhost:{self.port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="session")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    made = Receiver(tmp_path_factory.mktemp("receiver"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Server]:
    """A service that all tests share; each takes an organization of its own."""
    service = Server(tmp_path_factory.mktemp("service") / "data")
    service.options = ["--egress-allow-cidrs", "127.0.0.0/8,::1/128", "--egress-allow-ports", str(receiver.port)]
    service.options += ["--egress-ca-file", str(receiver.certificate)]
    service.start()
    yield service
    service.stop()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A service that a test may stop and kill."""
    service = Server(tmp_path / "data")
    service.start()
    yield service
    service.stop()


@pytest.fixture
def client(server: Server) -> Iterator[Orgmem]:
    with Orgmem(server.organization(), server.url) as made:
        yield made


def eventually(what: Callable[[], T | None], about: str) -> T:
    """What what returns once it is something."""
    late = time.monotonic() + PATIENCE
    while (found := what()) is None or found is False:
        assert time.monotonic() < late, f"it did not happen: {about}"
        time.sleep(0.02)
    return found
