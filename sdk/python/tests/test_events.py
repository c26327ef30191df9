"""The event stream: what comes, what a gap says of an interruption, and how it ends."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest

from both import KEY, KINDS, Both
from conftest import Server, eventually
from orgmem import AsyncOrgmem, BadAnswer, ConnectionFailed, Event, Gap, Orgmem, OrgmemError, Unauthorized
from orgmem.events import DISORDER, MOST_EVENT, Broken, Frames
from stub import Act, Stub, answer, problem

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def frame(id: str, type: str = "job.completed", second: int = 5) -> bytes:
    data = {"type": type, "data": {"n": id}, "timestamp": f"2026-01-02T03:04:{second:02}.000Z"}
    return f"event: {type}\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()


# Frames, as the HTML standard reads them


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_frames(size: int, end: bytes) -> None:
    text = b": ping\nevent: a\nid: 1\ndata: x\ndata:  y\n\n\ndata\n\nretry: 5\nunknown: z\n\nid: 9\n\n: bye\ndata:z\n\n"
    raw = text.replace(b"\n", end) + b":\n"
    frames = Frames()
    got = [f for i in range(0, len(raw), size) for f in frames.feed(raw[i : i + size])]
    assert got == [
        (":", "", b"ping"),
        ("a", "1", b"x\n y"),
        ("message", "", b""),
        (":", "", b"bye"),
        ("message", "", b"z"),
        (":", "", b""),
    ]


def test_a_frame_without_end() -> None:
    frames = Frames()
    with pytest.raises(Broken, match="more than"):
        for _ in range(MOST_EVENT // 1000 + 2):
            list(frames.feed(b"x" * 1000))
    frames = Frames()
    with pytest.raises(Broken, match="more than"):  # many short lines are no shorter
        for _ in range(MOST_EVENT // 1000 + 2):
            list(frames.feed(b"data: " + b"x" * 1000 + b"\n"))


# A stream of either kind, read to a number of items


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Pauses:
    """Sleeps not at all, and remembers."""

    def __init__(self, kind: str) -> None:
        self.seconds: list[float] = []
        self.sleep: Any = self._async if kind == "async" else self.seconds.append

    async def _async(self, seconds: float) -> None:
        self.seconds.append(seconds)


def read(kind: str, stub: Stub, count: int, types: list[str] | None = None, **options: Any) -> list[Event | Gap]:
    """The first items of a stream."""
    silence = options.pop("silence", 30.0)
    options = {"random": lambda: 1.0, "sleep": Pauses(kind).sleep, **options}
    with Both(kind, KEY, stub.url, **options) as both:
        stream = both.client.events(types, silence=silence)

        async def some() -> list[Event | Gap]:
            async with stream:
                return [await anext(stream) for _ in range(count)]

        if kind == "async":
            return list(both.run(some()))
        with stream:
            return [next(stream) for _ in range(count)]


def ids(items: list[Event | Gap]) -> list[str]:
    return [item.id if isinstance(item, Event) else f"gap since {item.since:%S}" for item in items]


def test_events_come(kind: str) -> None:
    with Stub(HEAD + b": ping\n\n" + frame("a") + frame("b", "novel.type")) as stub:
        first, second = read(kind, stub, 2)
    assert first == Event("a", "job.completed", {"n": "a"}, T0)
    assert isinstance(second, Event) and second.type == "novel.type"
    request = stub.requests[0].lower()
    assert b"accept: text/event-stream\r\n" in request and f"x-svc-api-key: {KEY.lower()}".encode() in request


def test_an_interruption_is_told(kind: str) -> None:
    acts = (HEAD + frame("a", second=7) + b": the node stops\n\n", HEAD + frame("b", second=9), HEAD + frame("c"))
    with Stub(*acts) as stub:
        items = read(kind, stub, 5)
    assert ids(items) == ["a", "gap since 05", "b", "gap since 07", "c"]
    assert isinstance(items[1], Gap) and items[1].why == "the node stops"
    assert isinstance(items[3], Gap) and "the connection was lost" in items[3].why


def test_a_gap_begins_before_what_may_have_come_late(kind: str) -> None:
    """An event may come behind a later one; what was cut off between the two is in the gap."""
    late, never = frame("late", second=9), b'{"type":"x","data":{},"timestamp":"0001-01-01T00:00:00Z"}'
    with Stub(HEAD + late, HEAD + frame("early", second=7), HEAD + b"data: " + never + b"\n\n", HEAD) as stub:
        items = read(kind, stub, 6)
    assert [item.since for item in items if isinstance(item, Gap)] == [
        T0.replace(second=7),
        T0.replace(second=5),
        datetime(1, 1, 1, tzinfo=timezone.utc),
    ]


def test_one_gap_however_often_it_takes(kind: str) -> None:
    page = answer(200, b"<html>maintenance", "text/html")
    busy = problem(429, "too_many_streams").replace(b"Connection:", b"Retry-After: 15\r\nConnection:")
    acts: tuple[Act, ...] = (HEAD + frame("a"), b"", problem(503, "service_degraded"), page, busy, HEAD + frame("b"))
    pauses = Pauses(kind)
    with Stub(*acts) as stub:
        assert ids(read(kind, stub, 3, sleep=pauses.sleep)) == ["a", "gap since 03", "b"]
    # 0.5, 1, 2, 4, and 8 with what Retry-After asks for; of the sync stream in naps.
    assert sum(pauses.seconds) == pytest.approx(0.5 + 1 + 2 + 4 + 8 + 15, abs=2.5)


def test_a_gap_without_an_event_begins_with_the_stream(kind: str) -> None:
    head = HEAD.replace(b"Connection", b"Date: Fri, 02 Jan 2026 03:04:03 GMT\r\nConnection")
    with Stub(head, HEAD + frame("a")) as stub:
        # The service's clock is behind this one's: the earlier of the two is on the safe side.
        gap = read(kind, stub, 1, clock=lambda: T0.timestamp() + 40)[0]
    assert isinstance(gap, Gap) and gap.since == T0.replace(second=3)


def test_silence_is_an_interruption(kind: str) -> None:
    def silent(connection: socket.socket) -> None:
        connection.sendall(HEAD + frame("a"))
        connection.settimeout(20)  # sooner than the client's own timeout: then it is no silence that ends it
        connection.recv(1)  # until the client goes

    with Stub(silent, HEAD + frame("b")) as stub:
        items = read(kind, stub, 3, silence=0.2)
    assert ids(items) == ["a", "gap since 03", "b"]
    assert isinstance(items[1], Gap) and items[1].why == "nothing came for 0.2 s"


@pytest.mark.parametrize(
    "data",
    [b"no json", b"[]", b'{"type":"x","data":[],"timestamp":"2026-01-02T03:04:05Z"}', b'{"type":"x","data":{}}'],
)
def test_what_is_no_event_is_an_interruption(kind: str, data: bytes) -> None:
    """What was in it is not known: rather a gap than silence."""
    with Stub(HEAD + frame("a") + b"data: " + data + b"\n\n" + frame("lost"), HEAD + frame("b")) as stub:
        items = read(kind, stub, 3)
    assert ids(items) == ["a", "gap since 03", "b"]
    assert isinstance(items[1], Gap) and "no event" in items[1].why


def test_only_some_types(kind: str) -> None:
    with Stub(HEAD + frame("a", "x") + frame("b", "y", 8), HEAD + frame("c", "x")) as stub:
        # The gap begins behind b, though it was not wanted.
        assert ids(read(kind, stub, 3, ["x"])) == ["a", "gap since 06", "c"]
    with pytest.raises(TypeError, match="list of event types"):
        Orgmem(KEY, "http://127.0.0.1:1").events("x")


def test_the_first_opening_is_given_up(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    stub = Stub(b"")
    with stub:
        stub.url = url
        with pytest.raises(ConnectionFailed, match="the last of 3 tries"):
            read(kind, stub, 1, max_retries=2)


@pytest.mark.parametrize("opened", [False, True])
def test_a_refusal_ends_it(kind: str, opened: bool) -> None:
    refusal = problem(401, "authentication_error")
    acts = (HEAD + frame("a"), refusal) if opened else (refusal,)
    with Stub(*acts) as stub, pytest.raises(Unauthorized):
        read(kind, stub, 2)
    assert len(stub.requests) == len(acts)


def test_a_page_is_no_stream(kind: str) -> None:
    with Stub(answer(200, b"<html>Sign in", "text/html")) as stub, pytest.raises(BadAnswer, match="Sign in"):
        read(kind, stub, 1)


def test_a_service_that_says_nothing_is_no_stream(kind: str) -> None:
    with Stub(None) as stub, pytest.raises(OrgmemError, match="Raise timeout"):
        read(kind, stub, 1, timeout=0.2, max_retries=1)


def test_another_thread_closes_it() -> None:
    def quiet(connection: socket.socket) -> None:
        connection.sendall(HEAD + frame("a"))
        connection.recv(1)

    with Stub(quiet) as stub, Orgmem(KEY, stub.url) as client:
        stream = client.events()
        got: list[Event | Gap] = []
        came = threading.Event()

        def loop() -> None:
            for item in stream:
                got.append(item)
                came.set()

        reader = threading.Thread(target=loop)
        reader.start()
        assert came.wait(30)
        stream.close()
        reader.join(30)
        assert not reader.is_alive() and ids(got) == ["a"]
        assert list(stream) == []


def test_a_cancelled_task_ends_it() -> None:
    def quiet(connection: socket.socket) -> None:
        connection.sendall(HEAD + frame("a"))
        connection.recv(1)

    async def main() -> None:
        with Stub(quiet) as stub:
            async with AsyncOrgmem(KEY, stub.url) as client:
                came = asyncio.Event()

                async def loop() -> None:
                    async with client.events() as stream:
                        async for _ in stream:
                            came.set()

                reader = asyncio.create_task(loop())
                await came.wait()
                reader.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await reader

    asyncio.run(asyncio.wait_for(main(), 30))


# The real service


class Reader:
    """Reads the stream of either kind in a thread of its own."""

    def __init__(self, kind: str, key: str, url: str) -> None:
        self.items: list[Event | Gap] = []
        self._open = threading.Event()
        self._stop: Callable[[], Any] = lambda: None
        self._thread = threading.Thread(target=self._sync if kind == "sync" else self._async, args=(key, url))
        self._thread.start()
        assert self._open.wait(30)

    def _sync(self, key: str, url: str) -> None:
        with Orgmem(key, url) as client, client.events() as stream:
            self._stop = stream.close
            self._open.set()
            self.items.extend(stream)

    def _async(self, key: str, url: str) -> None:
        async def main() -> None:
            loop = asyncio.get_running_loop()
            task = asyncio.current_task()
            assert task is not None
            async with AsyncOrgmem(key, url) as client, client.events() as stream:
                self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
                self._open.set()
                async for item in stream:
                    self.items.append(item)

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(main())

    def jobs(self) -> set[str]:
        return {i.data["jobId"] for i in list(self.items) if isinstance(i, Event) and i.type == "job.completed"}

    def gaps(self) -> list[Gap]:
        return [item for item in list(self.items) if isinstance(item, Gap)]

    def stop(self) -> None:
        self._stop()
        self._thread.join(30)
        assert not self._thread.is_alive()


def test_a_restart_of_the_service_is_a_gap(kind: str, own_server: Server) -> None:
    key = own_server.organization()
    reader = Reader(kind, key, own_server.url)
    try:
        with Orgmem(key, own_server.url) as client:
            before = client.add("Before the restart.", wait=True)
            eventually(lambda: before.id in reader.jobs() or None, "the job's event")
            assert reader.gaps() == []
            own_server.stop()
            own_server.start()
            gap = eventually(lambda: reader.gaps() or None, "the gap")[0]
            assert before.finished_at is not None
            assert gap.since >= before.created_at - DISORDER and gap.since <= datetime.now(timezone.utc)
            after = client.add("Behind the restart.", wait=True)
            eventually(lambda: after.id in reader.jobs() or None, "an event behind the gap")
            assert len(reader.gaps()) == 1
    finally:
        reader.stop()
