"""The two clients."""

from __future__ import annotations

import asyncio
import random as _random
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, overload

import httpx

from orgmem import _describe as d, _verbs as v, models as m
from orgmem._calls import Async, Sync
from orgmem._config import configure
from orgmem._http import AsyncCore, Requests, SyncCore, limits, secure
from orgmem.events import SILENCE, AsyncEventStream, EventStream

TIMEOUT = 30.0
MAX_RETRIES = 8
RETRY_BUDGET = 60.0


class Orgmem(v.Verbs[Sync]):
    """A client whose methods return when the answer is there. Any number of threads may use one.

    Close it when it is no longer needed, or use it in a with block.
    """

    _core: SyncCore

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        allow_insecure: bool = False,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        retry_budget: float = RETRY_BUDGET,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = _random.random,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """api_key and base_url come from ORGMEM_API_KEY and ORGMEM_BASE_URL where they are not given.

        timeout is for one try, in seconds. A request that may be repeated is sent again at most max_retries times,
        with at most retry_budget seconds of waiting in all. The last five are for tests.
        """
        config = configure(
            api_key=api_key,
            base_url=base_url,
            allow_insecure=allow_insecure,
            timeout=timeout,
            max_retries=max_retries,
            retry_budget=retry_budget,
            random=random,
            clock=clock,
            monotonic=monotonic,
        )
        http = httpx.Client(transport=transport, limits=limits(), **secure(config))
        self._closes = True
        super().__init__(SyncCore(http, Requests(config), sleep))

    def __repr__(self) -> str:
        return _shown(self, self._core.requests)

    def subject(self, id: str) -> Orgmem:
        """A client that acts as a subject. It shares this one's connections, and closes with it."""
        view = object.__new__(type(self))
        view._closes = False
        v.Verbs.__init__(view, self._core.acting_as(id))
        return view

    def close(self) -> None:
        """Closes the connections. A subject's client has none of its own."""
        if self._closes:
            self._core.http.close()

    def __enter__(self) -> Orgmem:
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def events(self, types: Collection[m.StreamedType | str] | None = None, *, silence: float = SILENCE) -> EventStream:
        """What happens from now on, of these types or of all: Events, and a Gap wherever something may be missing.

        It comes again by itself when the connection ends, or nothing has come for silence seconds.
        """
        return EventStream(self._core, types, silence)

    @overload
    def add(
        self,
        what: d.Item | Sequence[d.Item],
        *,
        external_id: str | None = ...,
        title: str | None = ...,
        kind: str | None = ...,
        occurred_at: d.Time | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        derived_from: Sequence[str] | None = ...,
        idempotency_key: str | None = ...,
        wait: Literal[True],
        wait_timeout: float = ...,
    ) -> m.Job: ...
    @overload
    def add(
        self,
        what: d.Item | Sequence[d.Item],
        *,
        external_id: str | None = ...,
        title: str | None = ...,
        kind: str | None = ...,
        occurred_at: d.Time | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        derived_from: Sequence[str] | None = ...,
        idempotency_key: str | None = ...,
        wait: Literal[False] = ...,
        wait_timeout: float = ...,
    ) -> m.Accepted: ...
    def add(
        self,
        what: d.Item | Sequence[d.Item],
        *,
        external_id: str | None = None,
        title: str | None = None,
        kind: str | None = None,
        occurred_at: d.Time | None = None,
        metadata: Mapping[str, Any] | None = None,
        derived_from: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        wait: bool = False,
        wait_timeout: float = d.PATIENCE,
    ) -> m.Accepted | m.Job:
        """Keeps a text, an item, or several.

        With wait, returns when it is found: the ended job, whose result says what became of each item.
        """
        call = d.ingest(
            what,
            external_id=external_id,
            title=title,
            kind=kind,
            occurred_at=occurred_at,
            metadata=metadata,
            derived_from=derived_from,
            idempotency_key=idempotency_key,
        )
        answer: m.Accepted | m.Job = self._core.run(d.add_and_wait(call, wait_timeout) if wait else call)
        return answer


class AsyncOrgmem(v.Verbs[Async]):
    """A client whose methods are awaited. Cancelling a task ends its request, and its waiting.

    Close it when it is no longer needed, or use it in an async with block.
    """

    _core: AsyncCore

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        allow_insecure: bool = False,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        retry_budget: float = RETRY_BUDGET,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        random: Callable[[], float] = _random.random,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Like Orgmem's."""
        config = configure(
            api_key=api_key,
            base_url=base_url,
            allow_insecure=allow_insecure,
            timeout=timeout,
            max_retries=max_retries,
            retry_budget=retry_budget,
            random=random,
            clock=clock,
            monotonic=monotonic,
        )
        http = httpx.AsyncClient(transport=transport, limits=limits(), **secure(config))
        self._closes = True
        super().__init__(AsyncCore(http, Requests(config), sleep))

    def __repr__(self) -> str:
        return _shown(self, self._core.requests)

    def subject(self, id: str) -> AsyncOrgmem:
        """A client that acts as a subject. It shares this one's connections, and closes with it."""
        view = object.__new__(type(self))
        view._closes = False
        v.Verbs.__init__(view, self._core.acting_as(id))
        return view

    async def close(self) -> None:
        """Closes the connections. A subject's client has none of its own."""
        if self._closes:
            await self._core.http.aclose()

    async def __aenter__(self) -> AsyncOrgmem:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    def events(
        self, types: Collection[m.StreamedType | str] | None = None, *, silence: float = SILENCE
    ) -> AsyncEventStream:
        """What happens from now on, of these types or of all: Events, and a Gap wherever something may be missing.

        It comes again by itself when the connection ends, or nothing has come for silence seconds.
        """
        return AsyncEventStream(self._core, types, silence)

    @overload
    async def add(
        self,
        what: d.Item | Sequence[d.Item],
        *,
        external_id: str | None = ...,
        title: str | None = ...,
        kind: str | None = ...,
        occurred_at: d.Time | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        derived_from: Sequence[str] | None = ...,
        idempotency_key: str | None = ...,
        wait: Literal[True],
        wait_timeout: float = ...,
    ) -> m.Job: ...
    @overload
    async def add(
        self,
        what: d.Item | Sequence[d.Item],
        *,
        external_id: str | None = ...,
        title: str | None = ...,
        kind: str | None = ...,
        occurred_at: d.Time | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        derived_from: Sequence[str] | None = ...,
        idempotency_key: str | None = ...,
        wait: Literal[False] = ...,
        wait_timeout: float = ...,
    ) -> m.Accepted: ...
    async def add(
        self,
        what: d.Item | Sequence[d.Item],
        *,
        external_id: str | None = None,
        title: str | None = None,
        kind: str | None = None,
        occurred_at: d.Time | None = None,
        metadata: Mapping[str, Any] | None = None,
        derived_from: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        wait: bool = False,
        wait_timeout: float = d.PATIENCE,
    ) -> m.Accepted | m.Job:
        """Keeps a text, an item, or several.

        With wait, returns when it is found: the ended job, whose result says what became of each item.
        """
        call = d.ingest(
            what,
            external_id=external_id,
            title=title,
            kind=kind,
            occurred_at=occurred_at,
            metadata=metadata,
            derived_from=derived_from,
            idempotency_key=idempotency_key,
        )
        answer: m.Accepted | m.Job = await self._core.run(d.add_and_wait(call, wait_timeout) if wait else call)
        return answer


def _shown(client: Orgmem | AsyncOrgmem, requests: Requests) -> str:
    """Without the key."""
    subject = f", subject={requests.subject!r}" if requests.subject is not None else ""
    return f"{type(client).__name__}(base_url={requests.config.base_url!r}{subject})"
