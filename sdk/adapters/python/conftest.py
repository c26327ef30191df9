"""What the tests of all adapters share: a real server, and memories of their own on it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from orgmem import AsyncOrgmem, Orgmem

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
BINARY = Path(os.environ.get("ORGMEM_TEST_BINARY") or REPOSITORY / "bin" / "orgmem")
PATIENCE = 180.0  # seconds that anything here may take to happen


@dataclass
class Server:
    """One process of the service with its data."""

    data: Path
    url: str = ""
    operator: str = ""
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        command = [str(BINARY), "serve", "--quickstart", "--json", "--data", str(self.data)]
        command += ["--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"]
        log = self.data.with_name("service.log")
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=out, env=without_orgmem()
            )
        assert self.process.stdout is not None
        greeting = self.process.stdout.readline()
        assert greeting, f"the service did not start: {log.read_text()[-2000:]}"
        said = json.loads(greeting)
        self.url, self.operator = said["baseUrl"], said["operatorUrl"]

    def stop(self) -> None:
        """Ends the process, and waits until it has: its folder is removed behind it."""
        assert self.process is not None and self.process.stdout is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def organization(self, plan: str = "unlimited") -> str:
        """Makes an organization, and returns its first key."""
        name = uuid.uuid4().hex
        command = [str(BINARY), "org", "create", "--json", "--data", str(self.data), "--operator", self.operator]
        command += ["--personal", "--plan", plan, "--name", name, "--owner-email", f"{name}@example.org"]
        made = subprocess.run(command, check=True, capture_output=True, env=without_orgmem())
        return str(json.loads(made.stdout)["apiKey"])


def without_orgmem() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("ORGMEM_")}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that all tests share."""
    service = Server(tmp_path_factory.mktemp("service") / "data")
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def key(server: Server) -> str:
    """The key of an organization without rate limits, so that no test waits for one."""
    return server.organization()


@pytest.fixture
def memory(server: Server, key: str) -> Iterator[Orgmem]:
    """A client that acts for a subject of its own: an empty memory."""
    with Orgmem(key, server.url) as owner:
        subject = f"test {uuid.uuid4().hex}"
        owner.subjects.put(subject)
        yield owner.subject(subject)


@pytest.fixture
async def amemory(server: Server, key: str, memory: Orgmem) -> AsyncIterator[AsyncOrgmem]:
    """An async client of the same memory as memory."""
    async with AsyncOrgmem(key, server.url) as owner:
        yield owner.subject(subject_of(memory))


def subject_of(memory: Orgmem) -> str:
    subject = memory._core.requests.subject
    assert subject is not None
    return subject


@pytest.fixture
def typed(server: Server, tmp_path: Path) -> Callable[..., str]:
    """Types Python into a fresh interpreter whose environment names an empty memory, and returns what it prints."""

    def run(code: str) -> str:
        environment = without_orgmem() | {
            "ORGMEM_BASE_URL": server.url,
            "ORGMEM_API_KEY": server.organization(),
            "OPENAI_API_KEY": "",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
        done = subprocess.run(
            [sys.executable, "-"],
            input=code,
            text=True,
            capture_output=True,
            timeout=PATIENCE,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def first_block(readme: Path) -> str:
    """The first fenced block of a README: what a new user types."""
    found = re.search(r"```python\n(.*?)\n```", readme.read_text(), re.DOTALL)
    assert found and readme.read_text().index("```") == found.start(), "the first block must be Python"
    return found[1]
