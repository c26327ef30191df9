"""Runs one test with the sync and with the async client."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any

import httpx

from orgmem import AsyncOrgmem, AsyncPages, Orgmem, Pages

KINDS = ("sync", "async")
KEY = "svc_prod_" + "k" * 43
Handler = Callable[[httpx.Request], httpx.Response]


class Both:
    """A client of either kind, and a way to have what its verbs return."""

    def __init__(self, kind: str, *args: Any, handler: Handler | None = None, **options: Any) -> None:
        self.kind = kind
        self.slept: list[float] = []
        self.seen: list[httpx.Request] = []
        self._loop = asyncio.new_event_loop() if kind == "async" else None
        if handler is not None:
            args = args or (KEY, "http://127.0.0.1:1")
            options["transport"] = httpx.MockTransport(self._recorded(handler))
            options.setdefault("random", lambda: 1.0)
            options.setdefault("sleep", self._sleep_async if kind == "async" else self.slept.append)
        self.client: Any = AsyncOrgmem(*args, **options) if kind == "async" else Orgmem(*args, **options)

    def _recorded(self, handler: Handler) -> Handler:
        def record(request: httpx.Request) -> httpx.Response:
            self.seen.append(request)
            return handler(request)

        return record

    async def _sleep_async(self, seconds: float) -> None:
        self.slept.append(seconds)

    def run(self, what: Any) -> Any:
        """The result of a verb; of a list all of its entries."""
        if self._loop is None:
            return list(what) if isinstance(what, Pages) else what
        if isinstance(what, AsyncPages):
            return self._loop.run_until_complete(_all(what))
        return self._loop.run_until_complete(what) if inspect.isawaitable(what) else what

    def __enter__(self) -> Both:
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self.run(self.client.close())
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()


async def _all(pages: AsyncPages[Any]) -> list[Any]:
    return [entry async for entry in pages]
