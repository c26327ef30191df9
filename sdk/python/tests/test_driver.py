"""The driver that the benchmarks start does what they count on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import Server, eventually
from orgmem import Orgmem

DRIVER = Path(__file__).parents[1] / "bench" / "driver.py"


def drive(server: Server, key: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(DRIVER), *arguments], env=environment(server, key), capture_output=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def environment(server: Server, key: str) -> dict[str, str]:
    return {**os.environ, "ORGMEM_API_KEY": key, "ORGMEM_BASE_URL": server.url}


def test_search_and_adds(server: Server) -> None:
    key = server.organization()
    assert drive(server, key, "adds", "30", "4") == {"acknowledged": 30, "failed": 0, "errors": {}}
    with Orgmem(key, server.url) as client:
        for job in client.jobs.list(type="ingest"):
            client.jobs.wait(job.id)
        found = {node.source.external_id for node in client.list(kind="document")}
    assert found == {f"bench-{i}" for i in range(30)}
    measured = drive(server, key, "search", "2")
    assert set(measured) == {"client_cpu_ms", "bare_cpu_ms", "added_ms"} and measured["bare_cpu_ms"] > 0


def test_events(own_server: Server, tmp_path: Path) -> None:
    key = own_server.organization()
    ids = tmp_path / "ids"
    command = [sys.executable, str(DRIVER), "events", str(ids)]
    with subprocess.Popen(
        command, env=environment(own_server, key), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdin is not None and driver.stdout is not None
        assert json.loads(driver.stdout.readline()) == {"ready": True}
        with Orgmem(key, own_server.url) as client:
            client.add("Before.", wait=True)
            eventually(lambda: ids.read_text() or None, "an id in the file")
            own_server.stop()
            before = ids.read_text()
            own_server.start()

            def behind() -> bool | None:
                client.add("Behind.", wait=True)
                return ids.read_text() != before or None

            eventually(behind, "an id behind the restart")
        driver.stdin.close()
        told = json.loads(driver.stdout.readline())
    assert driver.returncode == 0
    assert told["events"] == len(ids.read_text().splitlines()) > len(before.splitlines())
    assert len(told["gaps"]) == 1 and set(told["gaps"][0]) == {"since", "why"}
