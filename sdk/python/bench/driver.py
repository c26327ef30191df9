"""What a benchmark drives this client with.

    driver.py search N            CPU of a search through the client, and through httpx alone
    driver.py adds N CONCURRENCY  N adds of different texts, sent again for as long as it takes
    driver.py events FILE         the event stream into a file, until standard input ends

ORGMEM_BASE_URL and ORGMEM_API_KEY say where. Each prints one line of JSON (events one more when the stream is open).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx

from orgmem import Event, Orgmem, OrgmemError

ROUNDS = 10
WARM_UP = 50
PATIENCE = 600.0  # seconds until an add that is refused, or fails, is given up


def search(n: int) -> None:
    """Rounds of n searches by turns, so that whatever else the machine does meets both alike."""
    query = "who looked after the heating?"
    url = os.environ["ORGMEM_BASE_URL"] + "/v1/search"
    headers = {"X-Svc-API-Key": os.environ["ORGMEM_API_KEY"]}
    with Orgmem() as client, httpx.Client() as bare:

        def through_client() -> None:
            client.search(query, top_k=10)

        def through_httpx() -> None:
            bare.post(url, json={"query": query, "topK": 10}, headers=headers).raise_for_status()

        for call in (through_client, through_httpx):
            _cpu_ms(call, WARM_UP)
        rounds = [(_cpu_ms(through_client, n), _cpu_ms(through_httpx, n)) for _ in range(ROUNDS)]
    client_ms = statistics.median(c for c, _ in rounds)
    bare_ms = statistics.median(b for _, b in rounds)
    _say(
        client_cpu_ms=round(client_ms, 4),
        bare_cpu_ms=round(bare_ms, 4),
        added_ms=round(statistics.median(c - b for c, b in rounds), 4),
    )


def _cpu_ms(call: Callable[[], None], n: int) -> float:
    """Milliseconds of CPU that a call takes: the mean of n of them."""
    began = time.process_time()
    for _ in range(n):
        call()
    return (time.process_time() - began) * 1000 / n


def adds(n: int, concurrency: int) -> None:
    """Every add is sent until it is acknowledged: the retries are the client's own."""
    errors: Counter[str] = Counter()
    with Orgmem(max_retries=10_000, retry_budget=PATIENCE) as client:

        def add(i: int) -> bool:
            try:
                client.add(f"Note {i} of the benchmark: shelf {i * 7919 % n} holds box {i}.", external_id=f"bench-{i}")
            except OrgmemError as why:
                errors[f"{type(why).__name__}: {str(why)[:200]}"] += 1
                return False
            return True

        with ThreadPoolExecutor(concurrency) as pool:
            acknowledged = sum(pool.map(add, range(n)))
    _say(acknowledged=acknowledged, failed=n - acknowledged, errors=dict(errors.most_common(10)))


def events(path: str) -> None:
    """Every id as it comes, so that a reader of the file sees how far the stream is."""
    count = 0
    gaps: list[dict[str, str]] = []
    with Orgmem() as client, client.events() as stream, open(path, "w", buffering=1) as file:
        _say(ready=True)

        def until_the_end() -> None:
            sys.stdin.buffer.read()
            stream.close()

        threading.Thread(target=until_the_end, daemon=True).start()
        for item in stream:
            if isinstance(item, Event):
                count += 1
                file.write(item.id + "\n")
            else:
                gaps.append({"since": item.since.isoformat(), "why": item.why})
    _say(events=count, gaps=gaps)


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    match sys.argv[1:]:
        case ["search", n]:
            search(int(n))
        case ["adds", n, concurrency]:
            adds(int(n), int(concurrency))
        case ["events", path]:
            events(path)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
