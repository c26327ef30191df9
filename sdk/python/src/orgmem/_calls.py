"""How a verb is described: once, for the sync and the async client.

A verb is a function that returns a Call (one request), or a generator that yields
steps and returns the result (jobs.wait, an upload). It does no I/O. The descriptors
below turn it into a method: on a client of kind Sync one that returns the result, on
one of kind Async one that returns a coroutine; both are typed.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload
from urllib.parse import quote

from pydantic import BaseModel
from pydantic_core import to_json

from orgmem.errors import MOST_EXCERPT, BadAnswer
from orgmem.models import Page

if TYPE_CHECKING:
    from orgmem._upload import Form

MOST_KEY = 255  # characters of an Idempotency-Key

P = ParamSpec("P")
T = TypeVar("T")
Kind = TypeVar("Kind")
ModelT = TypeVar("ModelT", bound=BaseModel)


class Sync:
    """The kind of a client whose methods return results."""


class Async:
    """The kind of a client whose methods return coroutines."""


@dataclass(frozen=True)
class Answer:
    """What came back with a status below 300, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Call(Generic[T]):
    """One request, and how its answer is read."""

    method: str
    path: str
    parse: Callable[[Answer], T]
    query: Mapping[str, Any] | None = None
    body: bytes | None = None
    form: Form | None = None
    headers: Mapping[str, str] | None = None
    # Whether sending it twice does no more than sending it once.
    repeatable: bool = False
    # Carries an Idempotency-Key, which makes it repeatable: the given one, or a fresh one for "".
    key: str | None = None
    # Seconds for one try, where it is not the client's.
    timeout: float | None = None


@dataclass(frozen=True)
class Pause:
    """A step that waits."""

    seconds: float


@dataclass(frozen=True)
class Now:
    """A step that asks for the monotonic time."""


@dataclass
class Download:
    """A step that writes the body of an answer to a file, as it comes."""

    path: str
    target: Path
    length: int | None
    sha256: str | None
    on_progress: Callable[[int, int | None], None] | None = None


Step = Call[Any] | Pause | Now | Download
Steps = Generator[Step, Any, T]


def do(call: Call[T]) -> Steps[T]:
    """A call as a step of a longer verb: answer = yield from do(call)."""
    return cast(T, (yield call))


class Core(Protocol):
    """What carries out calls: orgmem._http has one for each kind."""

    def run(self, work: Call[Any] | Steps[Any]) -> Any: ...


class Caller(Generic[Kind]):
    """A client, or a group of its verbs (client.recall)."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def _check(self, describe: Callable[..., Any], given: Iterable[str]) -> None:
        """Looks at the names of a verb's arguments before it is called."""


class Bound(Generic[P, T]):
    """A verb of one client."""

    def __init__(self, describe: Callable[..., Any], owner: Caller[Any]) -> None:
        self._describe = describe
        self._owner = owner
        self.__doc__ = describe.__doc__
        self.__name__ = describe.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._owner._check(self._describe, kwargs)
        return self._owner._core.run(self._describe(self._owner, *args, **kwargs))

    @property
    def __signature__(self) -> inspect.Signature:
        whole = inspect.signature(self._describe)
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    def __repr__(self) -> str:
        return f"<verb {self.__name__} of {self._owner!r}>"


class verb(Generic[P, T]):
    """Makes a description a method of both kinds of clients."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T]] | Callable[Concatenate[Any, P], Steps[T]]):
        self.describe = cast("Callable[..., Call[T] | Steps[T]]", describe)
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> verb[P, T]: ...
    @overload
    def __get__(self, owner: Caller[Sync], kind: type | None = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, owner: Caller[Async], kind: type | None = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, owner: Caller[Any] | None, kind: type | None = None) -> Any:
        return self if owner is None else Bound(self.describe, owner)


class listing(Generic[P, T]):
    """Makes the description of a page a method that returns an iterator over all pages."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[Page[T]]]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, owner: None, kind: type | None = None) -> listing[P, T]: ...
    @overload
    def __get__(self, owner: Caller[Sync], kind: type | None = None) -> Callable[P, Pages[T]]: ...
    @overload
    def __get__(self, owner: Caller[Async], kind: type | None = None) -> Callable[P, AsyncPages[T]]: ...
    def __get__(self, owner: Caller[Any] | None, kind: type | None = None) -> Any:
        return self if owner is None else BoundList(self.describe, owner)


class BoundList(Bound[P, T]):
    """A list of one client."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        core = self._owner._core
        return core.pages(self._describe(self._owner, *args, **kwargs))  # type: ignore[attr-defined]


class Cursors:
    """The cursors of one list. One that comes again would come for ever."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def next(self, page: Page[Any]) -> str | None:
        """The cursor of the page behind this one; None where it is the last."""
        cursor = page.next_cursor
        if not page.has_more or not cursor:
            return None
        if cursor in self._seen:
            raise BadAnswer(
                f"The list has no end: its cursor {cursor[:MOST_EXCERPT]!r} came a second time. Bring client and "
                "service to versions that fit each other, and look at caches between."
            )
        self._seen.add(cursor)
        return cursor


def _next(call: Call[Page[T]], page: Page[T], cursors: Cursors) -> Call[Page[T]] | None:
    """The call for the page behind this one."""
    cursor = cursors.next(page)
    return None if cursor is None else _at(call, cursor)


def _at(call: Call[Page[T]], cursor: str) -> Call[Page[T]]:
    """The call for the page that a cursor names."""
    return dataclasses.replace(call, query={**(call.query or {}), "cursor": cursor})


class Pages(Generic[T]):
    """A list: iterate for all of it, page by page as needed; page() is one page."""

    def __init__(self, core: Core, call: Call[Page[T]]) -> None:
        self._core = core
        self._call = call

    def page(self, cursor: str | None = None) -> Page[T]:
        """The first page, or the one that a cursor names."""
        call = self._call
        if cursor is not None:
            call = _at(call, cursor)
        return cast("Page[T]", self._core.run(call))

    def __iter__(self) -> Iterator[T]:
        call: Call[Page[T]] | None = self._call
        cursors = Cursors()
        while call is not None:
            page: Page[T] = self._core.run(call)
            yield from page.data
            call = _next(call, page, cursors)


class AsyncPages(Generic[T]):
    """A list: iterate with async for over all of it; await page() is one page."""

    def __init__(self, core: Core, call: Call[Page[T]]) -> None:
        self._core = core
        self._call = call

    async def page(self, cursor: str | None = None) -> Page[T]:
        """The first page, or the one that a cursor names."""
        call = self._call
        if cursor is not None:
            call = _at(call, cursor)
        return cast("Page[T]", await self._core.run(call))

    async def __aiter__(self) -> AsyncIterator[T]:
        call: Call[Page[T]] | None = self._call
        cursors = Cursors()
        while call is not None:
            page: Page[T] = await self._core.run(call)
            for entry in page.data:
                yield entry
            call = _next(call, page, cursors)


# What descriptions are made of.


def segment(id: str) -> str:
    """An id as one segment of a path."""
    if not id:
        raise ValueError("the id is empty: it would name another route")
    # A segment of dots alone would be taken as a step upwards.
    return quote(id, safe="").replace(".", "%2E") if id in (".", "..") else quote(id, safe="")


def key_of(idempotency_key: str | None) -> str:
    """The Idempotency-Key of a call: the caller's, or "" for a fresh one."""
    if idempotency_key is None:
        return ""
    if not 1 <= len(idempotency_key) <= MOST_KEY or not all("!" <= c <= "~" for c in idempotency_key):
        raise ValueError(
            f"an idempotency_key is 1 to {MOST_KEY} visible ASCII characters: leave it out to have one made"
        )
    return idempotency_key


def when(value: datetime | str | None) -> str | None:
    """A time as the interface takes it."""
    if value is None or isinstance(value, str):
        return value
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone: use datetime(…, tzinfo=timezone.utc) or .astimezone()")
    return value.isoformat()


def given(**fields: Any) -> dict[str, Any]:
    """The fields that were given, under their names in the interface."""
    return {name: value for name, value in fields.items() if value is not None}


def json_of(value: Any) -> bytes:
    """A request's body."""
    return to_json(value)


def plain(value: Any, model: type[BaseModel]) -> dict[str, Any]:
    """What was given for a model (the model, or a mapping with the names of either side), as JSON has it."""
    if not isinstance(value, model):
        value = model.model_validate(dict(value))
    return cast("dict[str, Any]", value.model_dump(mode="json", by_alias=True, exclude_unset=True))


def read(model: type[ModelT]) -> Callable[[Answer], ModelT]:
    """A parser for answers that are one model."""
    validate = model.__pydantic_validator__.validate_json

    def parse(answer: Answer) -> ModelT:
        return cast(ModelT, validate(answer.body))

    return parse


def nothing(answer: Answer) -> None:
    """The parser of answers without a body."""
