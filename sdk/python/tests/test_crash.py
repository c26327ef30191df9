"""The service is killed in the middle of adds: nothing that was acknowledged is lost, and nothing is there twice."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from both import KINDS
from conftest import Server, eventually
from orgmem import AsyncOrgmem, Orgmem

ADDS = 240
AT_ONCE = 8
PATIENT: dict[str, Any] = {"max_retries": 1000, "retry_budget": 120.0}


def text(i: int) -> str:
    return f"Note {i}: box {i} is on shelf {i * 7919 % 1009}."


class Killer:
    """Kills the service when a third of the adds is acknowledged, and starts it again."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._acknowledged = 0
        self._due = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        if self._due.wait(60):
            self._server.stop(signal.SIGKILL)
            self._server.start()

    def acknowledged(self) -> None:
        with self._lock:
            self._acknowledged += 1
            if self._acknowledged == ADDS // 3:
                self._due.set()

    def join(self) -> None:
        self._thread.join()
        assert self._due.is_set()


def add_all(kind: str, key: str, url: str, killer: Killer) -> list[str]:
    """Adds everything, and returns the jobs' ids."""
    if kind == "sync":
        with Orgmem(key, url, **PATIENT) as client:

            def add(i: int) -> str:
                job = client.add(text(i), external_id=f"note-{i}").job_id
                killer.acknowledged()
                return job

            with ThreadPoolExecutor(AT_ONCE) as pool:
                return list(pool.map(add, range(ADDS)))

    async def main() -> list[str]:
        some = asyncio.Semaphore(AT_ONCE)
        async with AsyncOrgmem(key, url, **PATIENT) as client:

            async def add(i: int) -> str:
                async with some:
                    job = (await client.add(text(i), external_id=f"note-{i}")).job_id
                killer.acknowledged()
                return job

            return list(await asyncio.gather(*(add(i) for i in range(ADDS))))

    return asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_killed_in_the_middle_of_adds(kind: str, own_server: Server) -> None:
    key = own_server.organization()
    killer = Killer(own_server)
    jobs = add_all(kind, key, own_server.url, killer)
    killer.join()
    with Orgmem(key, own_server.url, **PATIENT) as client:

        def all_done() -> bool | None:
            done = {job.id for job in client.jobs.list(type="ingest", status="succeeded", page_size=100)}
            return set(jobs) <= done or None

        eventually(all_done, "the work on all adds")
        # Each add was accepted once: a second acceptance would be another job.
        assert len(set(jobs)) == ADDS
        assert Counter(job.id for job in client.jobs.list(type="ingest", page_size=100)) == Counter(jobs)
        nodes = list(client.list(kind="document", page_size=100))
        assert Counter(node.source.external_id for node in nodes) == Counter(f"note-{i}" for i in range(ADDS))
        assert client.search(text(17)).results[0].external_id == "note-17"
