"""The event stream: what happened, and where it may be that something was missed.

The service replays nothing. A stream ends with its connection, when a node stops and
when the organization moves to another; this one comes again by itself, and then tells
a Gap: read by the ordinary verbs what has changed since.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any

import httpx
from pydantic import AwareDatetime, TypeAdapter

from orgmem._calls import Call
from orgmem._http import AsyncCore, Requests, SyncCore, beginning, beginning_async, error_from
from orgmem._retry import Tries, retry_after_of
from orgmem.errors import ApiError, BadAnswer, OrgmemError, foreign

ROUTE = "/v1/events"
# How much later than an event one may come that happened before it: each node tells its own, and one that drains may
# hold them up for so long.
DISORDER = timedelta(seconds=2)
SILENCE = 45.0  # seconds; three heartbeats that did not come: nobody is there any more
STEADY = 10.0  # seconds; a stream that lasted this long was no failure
FIRST_PAUSE = 0.5  # seconds; a node's leaderships are elsewhere by then
LONGEST_PAUSE = 30.0  # a service that is down is asked twice a minute
LONGEST_RETRY_AFTER = 300.0  # a longer Retry-After is cut to this
MOST_EVENT = 1 << 20  # bytes; an event has some hundred
LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")  # a last CR may be half a line end
STAMP: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)
NAP = 0.5  # seconds; how long close() waits at most for a thread that pauses


@dataclass(frozen=True)
class Event:
    """Something happened: ids and small values, never content."""

    id: str  # Empty where the event has none.
    type: str
    data: dict[str, Any]
    timestamp: datetime


@dataclass(frozen=True)
class Gap:
    """The stream was interrupted, and is open again. What happened since then may be missing."""

    # When the last event happened that came, less what an earlier one may come behind it; where none came, when the
    # stream began.
    since: datetime
    why: str


class Broken(Exception):
    """What came is no event; the connection is given up."""


@dataclass
class Frames:
    """Takes bytes as they arrive and gives the frames that they complete, as the HTML standard reads an event stream.

    A frame is (event, id, data); of a comment all but the data is empty, and the event is ":".
    """

    _rest: bytes = b""
    _event: str = ""
    _id: str = ""
    _data: list[bytes] = field(default_factory=list)
    _size: int = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str, bytes]]:
        looked = max(0, len(self._rest) - 1)  # so far there is no line end but a last CR
        self._rest += chunk
        begin = 0
        for end in LINE_END.finditer(self._rest, looked):
            line = self._rest[begin : end.start()]
            begin = end.end()
            if not line:
                if self._data:
                    yield self._event or "message", self._id, b"\n".join(self._data)
                self._event, self._id, self._data, self._size = "", "", [], 0
            elif line.startswith(b":"):
                yield ":", "", line[1:].strip()
            else:
                self._take(line)
        self._rest = self._rest[begin:]
        if len(self._rest) + self._size > MOST_EVENT:
            raise Broken(f"an event of more than {MOST_EVENT} bytes")

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        self._size += len(line)
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id":
            self._id = value.decode("utf-8", "replace")


class Watch:
    """What a stream knows and decides, without doing any I/O."""

    def __init__(self, requests: Requests, types: Collection[str] | None, silence: float) -> None:
        if isinstance(types, str):
            raise TypeError("types is a list of event types, not one text")
        self._requests = requests
        self._config = requests.config
        self._types = None if types is None else frozenset(types)
        self._silence = silence
        self._frames = Frames()
        self._since: datetime | None = None  # None until the stream was open
        self._why = ""
        self._opened_at = 0.0
        self._asked_at = 0.0
        self._failures = 0
        self._tries = self._first_tries()

    def _first_tries(self) -> Tries:
        return self._requests.tries(Call("GET", ROUTE, lambda _: None))

    def request(self) -> httpx.Request:
        self._asked_at = self._config.clock()
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity", "Cache-Control": "no-store"}
        return self._requests.stream_request(ROUTE, headers)

    def is_stream(self, response: httpx.Response) -> bool:
        kind: str = response.headers.get("content-type", "")
        return response.status_code == 200 and kind.startswith("text/event-stream")

    def refusal(self, response: httpx.Response, body: bytes) -> OrgmemError:
        """Why an answer is no stream."""
        if response.status_code >= 300:
            return self._requests.failure(response, body)
        return foreign(response.status_code, response.headers, body, method="GET", url=str(response.request.url))

    def opened(self, response: httpx.Response) -> Gap | None:
        """The stream is open. After an interruption there is a gap to tell."""
        gap = None if self._since is None else Gap(self._since, self._why)
        self._frames = Frames()
        # It had to begin within the client's timeout; from now on it may be silent for longer, or shorter.
        response.request.extensions["timeout"]["read"] = self._silence
        self._opened_at = self._config.monotonic()
        self._why = "the connection was lost"
        if gap is None:
            # The service's clock and this one may differ: the earlier time is on the safe side.
            asked = datetime.fromtimestamp(self._asked_at, timezone.utc)
            self._since = min(asked, _date(response.headers.get("date")) or asked)
        return gap

    def feed(self, chunk: bytes) -> Iterator[Event]:
        for kind, id, data in self._frames.feed(chunk):
            if kind == ":":
                if data != b"ping":
                    self._why = data.decode("utf-8", "replace")  # what the service says last
                continue
            event = _event(kind, id, data)
            # Heartbeats do not count: what came behind the last event is not known to have been read.
            self._since = _before(event.timestamp)
            self._failures = 0  # a stream that brought an event did not fail, however short it was
            if self._types is None or event.type in self._types:
                yield event

    def lost(self, why: Exception | None) -> None:
        """The stream has ended."""
        if isinstance(why, httpx.ReadTimeout):
            self._why = f"nothing came for {self._silence:g} s"
        elif isinstance(why, Broken):
            self._why = str(why)
        elif why is not None and self._why == "the connection was lost":
            self._why = f"the connection was lost: {why or type(why).__name__}"
        if self._config.monotonic() - self._opened_at > STEADY:
            self._failures = 0

    def pause(self, failure: OrgmemError | None) -> float:
        """How long to wait before the next request; raises where there is to be none.

        The first one is given up like any other call. A stream that was open comes again for as long as it takes,
        unless the service does not want this caller any more.
        """
        if failure is not None:
            if self._since is None:
                return self._tries.pause(failure)
            # A page with 200 is what a proxy shows while there is nothing behind it.
            status = failure.status if isinstance(failure, ApiError | BadAnswer) else None
            if status is not None and 300 <= status < 500 and status not in (408, 429):
                raise failure
        back_off = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        asked = min(LONGEST_RETRY_AFTER, (failure and retry_after_of(failure)) or 0.0)
        # Jitter: those whose streams ended together do not come back together.
        return asked + back_off * (0.5 + self._config.random() / 2)


def _before(at: datetime) -> datetime:
    """The time from which on something may be missing behind an event of this time."""
    try:
        return at - DISORDER
    except OverflowError:  # the first seconds of the calendar, as a time that was never set has it
        return at


def _date(header: str | None) -> datetime | None:
    if header:
        with suppress(ValueError):
            return parsedate_to_datetime(header)
    return None


def _event(kind: str, id: str, data: bytes) -> Event:
    try:
        value = json.loads(data)
        content = value["data"]
        if not isinstance(content, dict):
            raise ValueError("data is no object")
        return Event(id, str(value.get("type", kind)), content, STAMP.validate_python(value["timestamp"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as why:
        raise Broken(f"a frame that is no event: {type(why).__name__}: {why}") from why


class EventStream:
    """Events and gaps, in a for loop. In a with block it is open from the begin of the block on.

    Another thread may close it.
    """

    def __init__(self, core: SyncCore, types: Collection[str] | None, silence: float) -> None:
        self._core = core
        self._watch = Watch(core.requests, types, silence)
        self._response: httpx.Response | None = None
        self._closed = False
        self._items = self._run()

    def __enter__(self) -> EventStream:
        if self._response is None and not self._closed:
            self._connect()
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event | Gap]:
        return self

    def __next__(self) -> Event | Gap:
        return next(self._items)

    def close(self) -> None:
        """Ends the stream; a loop over it ends too."""
        self._closed = True
        response = self._response
        if response is not None:
            stream = response.extensions.get("network_stream")
            connection = stream.get_extra_info("socket") if stream is not None else None
            if connection is not None:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for the next event
        with suppress(ValueError):  # the loop runs in another thread, and ends there
            self._items.close()
            if self._response is not None:
                self._response.close()

    def _run(self) -> Generator[Event | Gap, None, None]:
        watch = self._watch
        while not self._closed:
            gap = None
            if self._response is None:
                gap = self._connect()
            response = self._response
            if response is None:  # closed meanwhile
                return
            why: Exception | None = None
            try:
                if self._closed:  # while the answer came
                    return
                if gap is not None:
                    yield gap
                for chunk in response.iter_bytes():
                    yield from watch.feed(chunk)
            except (httpx.HTTPError, Broken) as failure:
                why = failure
            finally:
                self._response = None
                response.close()
            if self._closed:
                return
            watch.lost(why)
            self._pause(watch.pause(None))

    def _connect(self) -> Gap | None:
        """Opens the stream, however often that has to be tried."""
        while not self._closed:
            request = self._watch.request()
            try:
                return self._open(request)
            except OrgmemError as failure:
                pause = self._watch.pause(failure)
            self._pause(pause)
        return None

    def _open(self, request: httpx.Request) -> Gap | None:
        seconds = self._core.requests.config.timeout
        try:
            response = self._core.http.send(request, stream=True)
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        if self._watch.is_stream(response):
            gap = self._watch.opened(response)
            self._response = response
            return gap
        try:
            body = beginning(response)
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        finally:
            response.close()
        raise self._watch.refusal(response, body)

    def _pause(self, seconds: float) -> None:
        while seconds > 0 and not self._closed:
            self._core.sleep(min(NAP, seconds))
            seconds -= NAP


class AsyncEventStream:
    """Events and gaps, in an async for loop. In an async with block it is open from the begin of the block on."""

    def __init__(self, core: AsyncCore, types: Collection[str] | None, silence: float) -> None:
        self._core = core
        self._watch = Watch(core.requests, types, silence)
        self._response: httpx.Response | None = None
        self._items = self._run()

    async def __aenter__(self) -> AsyncEventStream:
        if self._response is None:
            await self._connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[Event | Gap]:
        return self

    async def __anext__(self) -> Event | Gap:
        return await anext(self._items)

    async def close(self) -> None:
        """Ends the stream."""
        await self._items.aclose()
        if self._response is not None:
            await self._response.aclose()
            self._response = None

    async def _run(self) -> AsyncGenerator[Event | Gap, None]:
        watch = self._watch
        while True:
            gap = None
            if self._response is None:
                gap = await self._connect()
            response = self._response
            assert response is not None  # noqa: S101
            why: Exception | None = None
            try:
                if gap is not None:
                    yield gap
                async for chunk in response.aiter_bytes():
                    for event in watch.feed(chunk):
                        yield event
            except (httpx.HTTPError, Broken) as failure:
                why = failure
            finally:
                self._response = None
                await response.aclose()
            watch.lost(why)
            await self._core.sleep(watch.pause(None))

    async def _connect(self) -> Gap | None:
        """Opens the stream, however often that has to be tried."""
        while True:
            request = self._watch.request()
            try:
                return await self._open(request)
            except OrgmemError as failure:
                pause = self._watch.pause(failure)
            await self._core.sleep(pause)

    async def _open(self, request: httpx.Request) -> Gap | None:
        seconds = self._core.requests.config.timeout
        try:
            response = await self._core.http.send(request, stream=True)
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        if self._watch.is_stream(response):
            gap = self._watch.opened(response)
            self._response = response
            return gap
        try:
            body = await beginning_async(response)
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        finally:
            await response.aclose()
        raise self._watch.refusal(response, body)
