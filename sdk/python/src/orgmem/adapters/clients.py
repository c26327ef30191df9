"""The client of an adapter: a sync one, an async one, or both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from orgmem import AsyncOrgmem, Orgmem

T = TypeVar("T")

# A step is one call on a client, or several that do not wait for each other. Both kinds of
# client have the same verbs, so what an adapter does is written once, as a generator of steps.
Call = Callable[[Any], Any]
Steps = Generator["Call | list[Call]", Any, T]

AT_ONCE = 8  # calls of one step that are under way together


class Clients:
    """Carries out steps with whichever client there is."""

    def __init__(
        self,
        client: Orgmem | None = None,
        async_client: AsyncOrgmem | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        subject: str | None = None,
    ) -> None:
        if (client or async_client) and not (api_key is None and base_url is None and subject is None):
            raise ValueError(
                "api_key, base_url and subject make a client, and one was passed: say them there "
                "(client.subject(id) acts for a subject)."
            )
        self._make: Callable[[], AsyncOrgmem] | None = None
        self._subject = subject
        self._own: Orgmem | None = None
        if client is None and async_client is None:
            self._own = Orgmem(api_key, base_url)  # at once, so that a missing key is an error here and not in a call
            client = self._own if subject is None else self._own.subject(subject)
            self._make = lambda: AsyncOrgmem(api_key, base_url)
        self._client = client
        self._async = async_client
        self._lock = threading.Lock()
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOrgmem] = WeakKeyDictionary()

    def run(self, steps: Steps[T]) -> T:
        """Carries steps out, and returns what they return."""
        client = self._client
        if client is None:
            raise TypeError("This was made with an async client only: await the async method, or pass client too.")
        answer: Any = None
        failure: Exception | None = None
        while True:
            try:
                step = steps.send(answer) if failure is None else steps.throw(failure)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            answer = failure = None
            try:
                answer = [call(client) for call in step] if isinstance(step, list) else step(client)
            except Exception as why:  # the steps decide what it means
                failure = why

    async def arun(self, steps: Steps[T]) -> T:
        """run, without holding up the event loop."""
        client = self._async_client()
        if client is None:  # only a sync one was given
            return await asyncio.to_thread(self.run, steps)
        answer: Any = None
        failure: Exception | None = None
        while True:
            try:
                step = steps.send(answer) if failure is None else steps.throw(failure)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            answer = failure = None
            try:
                answer = await (_together(step, client) if isinstance(step, list) else step(client))
            except Exception as why:
                failure = why

    def _async_client(self) -> AsyncOrgmem | None:
        if self._make is None:
            return self._async
        # Connections belong to the loop that opened them; a program that calls asyncio.run twice has two, and threads
        # may have one each.
        loop = asyncio.get_running_loop()
        with self._lock:
            own = self._of_loops.get(loop)
            if own is None:
                # A client holds its loop, so that none would go by itself.
                for ended in [other for other in self._of_loops if other.is_closed()]:
                    del self._of_loops[ended]
                own = self._of_loops[loop] = self._make()
        return own if self._subject is None else own.subject(self._subject)

    def close(self) -> None:
        """Closes the sync client that was made here. One that was passed is its maker's."""
        if self._own is not None:
            self._own.close()

    async def aclose(self) -> None:
        """Closes what was made here for this event loop, and the sync client."""
        with self._lock:
            own = self._of_loops.pop(asyncio.get_running_loop(), None)
        if own is not None:
            await own.close()
        self.close()


async def _together(calls: list[Call], client: Any) -> list[Any]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(call: Call) -> Any:
        async with gate:
            return await call(client)

    return list(await asyncio.gather(*(one(call) for call in calls)))
