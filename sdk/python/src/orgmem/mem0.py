"""The calls of mem0's Memory over this client, so that a program that was written for it runs.

    from orgmem.mem0 import Memory

A user becomes a subject, made on the first add; an agent and a run become metadata. The
README says where the two differ.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache
from types import TracebackType
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, unquote

from orgmem import _describe as d, models as m
from orgmem._calls import Async, Call, Caller, Cursors, Kind, Steps, Sync, do, json_of, read, segment, verb, when
from orgmem.client import AsyncOrgmem, Orgmem
from orgmem.errors import Conflict, NotFound, OrgmemError, PermissionDenied

T = TypeVar("T")
Message = Mapping[str, Any]
Answer = dict[str, Any]

TOP_K = 20  # mem0's
MOST_TRIES = 5  # of a purge, while what is derived in the background changes its counts
PAGE = 100
IDENTITIES = ("user_id", "agent_id", "run_id")
# What mem0 has beside the metadata.
PROMOTED = ("agent_id", "run_id", "actor_id", "role")


# Why there is nothing like an argument of mem0's here.
NO_MODEL = "nothing is sent to a language model"
NOT_HERE = {
    "expiration_date": "a memory here does not expire by itself; delete it when its time is over",
    "show_expired": "a memory here does not expire by itself",
    "memory_type": "there is one kind of memory; put yours into the metadata",
    "prompt": NO_MODEL,
    "custom_instructions": NO_MODEL,
    "enable_graph": "the graph is always there, in client.recall.graph",
    "rerank": "the order of the results is final",
    "explain": "client.search has the scores of each hit",
    "app_id": "put it into the metadata",
}


@cache
def _arguments(describe: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(describe).parameters)


class Place:
    """Whose memory is meant: a user's, or the key owner's; and the metadata that a memory there must have."""

    def __init__(self, given: Mapping[str, str | None], filters: Mapping[str, Any] | None) -> None:
        where = {key: _equal(key, value) for key, value in (filters or {}).items() if value is not None}
        named: dict[str, str] = {}
        for name in IDENTITIES:
            value = str(where.pop(name, "") if given[name] is None else given[name]).strip()
            where.pop(name, None)
            if value:
                named[name] = value
        if not named:
            raise ValueError(
                "Whose memory is meant? Give at least one of user_id, agent_id and run_id, as an argument or in "
                "filters={'user_id': …}."
            )
        self.user = named.pop("user_id", None)
        self.metadata: dict[str, Any] = {**where, **named}

    def has(self, metadata: Mapping[str, Any]) -> bool:
        return all(metadata.get(name) == value for name, value in self.metadata.items())


def _equal(key: str, value: Any) -> str | int | float | bool:
    """The value that a filter compares with."""
    if isinstance(value, Mapping) and set(value) == {"eq"}:
        value = value["eq"]
    if key in ("AND", "OR", "NOT") or value == "*" or not isinstance(value, str | int | float | bool):
        raise ValueError(
            f"The filter {key} cannot be had here: metadata is compared for equality alone. Filter the results for "
            "the rest."
        )
    return value


def memory_id(user: str | None, node: str) -> str:
    """The id of a memory: <user>/<node>, or the node alone for the key's owner."""
    return node if user is None else f"{quote(user, safe='')}/{node}"


def place_of(memory_id: str) -> tuple[str | None, str]:
    """In which user's memory an id lies, and as which node."""
    # A node's id has a colon before any slash; a quoted user has none.
    user, slash, node = memory_id.partition("/")
    return (unquote(user), node) if slash and ":" not in user else (None, memory_id)


def _as(user: str | None, call: Call[T]) -> Call[T]:
    """The call in the memory of a user."""
    if user is not None:
        call.headers = {**(call.headers or {}), "X-Svc-Subject": quote(user, safe="")}
    return call


class _Verbs(Caller[Kind]):
    def _check(self, describe: Callable[..., Any], given: Iterable[str]) -> None:
        """What would have no effect is refused, and not ignored."""
        for name in given:
            if name not in _arguments(describe):
                why = NOT_HERE.get(name, "it would have no effect")
                raise TypeError(f"{name} is an argument that cannot be had here: {why}. Leave {name} away.")

    @verb
    def add(
        self,
        messages: str | Message | Sequence[Message],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: int | float | datetime | str | None = None,
        infer: bool = True,
    ) -> Steps[Answer]:
        """Keeps each message but those of the system, and returns when they are found.

        Either way of infer a message is kept as it was said: nothing is sent to a language model.
        """
        place = Place({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, None)
        items = list(_items(messages, {**(metadata or {}), **place.metadata}, _time(timestamp)))
        if not items:
            raise ValueError("There is nothing to keep: give a text, or messages with text that are not the system's.")

        def ingest() -> Call[m.Accepted]:
            return Call("POST", "/v1/ingest/batch", d.ACCEPTED, body=json_of({"items": items}), key="")

        try:
            accepted = yield from do(_as(place.user, ingest()))
        except PermissionDenied as why:
            if place.user is None or why.code != "subject_not_provisioned":
                raise
            yield from do(Call("PUT", f"/v1/subjects/{segment(place.user)}", d.SUBJECT))
            accepted = yield from do(_as(place.user, ingest()))
        job = yield from d.wait_for_job(accepted.job_id, d.PATIENCE)
        return {"results": [_kept(place.user, items, item) for item in (job.result.items if job.result else ())]}

    @verb
    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
    ) -> Steps[Answer]:
        """Finds memories, best first. limit is top_k's name in older versions. Metadata is in get's answer."""
        place = Place({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, filters)
        body: dict[str, Any] = {"query": query, "topK": _most(top_k, limit)}
        if place.metadata:
            body["filters"] = {"metadata": place.metadata}
        call = Call("POST", "/v1/search", d.SEARCH_RESULT, body=json_of(body), repeatable=True)
        found = yield from _unless_unknown(_as(place.user, call))
        results: dict[str, Answer] = {}
        for hit in found.results if found else ():
            # A long memory may be hit in several passages; the best comes first.
            if hit.score >= (threshold or 0.0) and hit.node_id not in results:
                results[hit.node_id] = {
                    "id": memory_id(place.user, hit.node_id),
                    "memory": hit.chunk,
                    "score": hit.score,
                    "created_at": _stamp(hit.created_at),
                    **_identities(place.user, place.metadata),
                }
        return {"results": list(results.values())}

    @verb
    def get(self, memory_id: str) -> Steps[Answer | None]:
        """One memory; None if it does not exist."""
        user, node = place_of(memory_id)
        found = yield from _unless_unknown(_as(user, d.get(f"/v1/graph/nodes/{segment(node)}", d.node_of)))
        return None if found is None else _memory(user, found)

    @verb
    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> Steps[Answer]:
        """The newest memories, each read with its text."""
        place = Place({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, filters)
        results = []
        for id in (yield from _all(place, _most(top_k, limit))):
            call = _as(place.user, d.get(f"/v1/graph/nodes/{segment(id)}", d.node_of))
            found = yield from _unless_unknown(call)  # it may have been forgotten since it was listed
            if found is not None:
                results.append(_memory(place.user, found))
        return {"results": results}

    @verb
    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        data: str | None = None,
    ) -> Steps[Answer]:
        """Changes the text, and adds to the metadata. data is text's name in older versions."""
        user, node = place_of(memory_id)
        route = f"/v1/graph/nodes/{segment(node)}"
        content = data if text is None else text
        if content is None and metadata is None:
            raise ValueError("At least one of text and metadata must be given.")
        patch: dict[str, Any] = {} if content is None else {"content": content}
        match: dict[str, str] = {}
        if metadata is not None:
            # The service replaces all of it, so a change by somebody else in between must be seen.
            before = yield from do(_as(user, d.get(route, d.node_of)))
            patch["metadata"] = {**before.metadata, **{k: x for k, x in metadata.items() if k not in IDENTITIES}}
            match = {"If-Match": before.etag or "*"}
        yield from do(_as(user, Call("PATCH", route, d.node_of, body=json_of(patch), headers=match)))
        return {"message": "Memory updated successfully!"}

    @verb
    def delete(self, memory_id: str) -> Steps[Answer]:
        """Forgets one memory."""
        user, node = place_of(memory_id)
        yield from do(_as(user, d.delete(f"/v1/graph/nodes/{segment(node)}", d.node_of)))
        return {"message": "Memory deleted successfully!"}

    @verb
    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> Steps[Answer]:
        """Of a user alone everything goes at once, for which the key needs admin; else one by one."""
        place = Place({"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, None)
        if place.user is not None and not place.metadata:
            with suppress(NotFound):  # nothing was ever added for this user
                yield from _purge({"scope": "subject", "subjectId": place.user})
        else:
            for id in (yield from _all(place, None)):
                yield from _unless_unknown(_as(place.user, d.delete(f"/v1/graph/nodes/{segment(id)}", d.node_of)))
        return {"message": "Memories deleted successfully!"}

    @verb
    def history(self, memory_id: str) -> Steps[list[Answer]]:
        """Every change of one memory, oldest first."""
        user, node = place_of(memory_id)
        route, parse = f"/v1/graph/nodes/{segment(node)}/history", read(m.Page[m.HistoryEntry])
        entries = yield from _pages(lambda cursor: _as(user, d.get(route, parse, pageSize=PAGE, cursor=cursor)))
        return [_change(memory_id, i, entry) for i, entry in enumerate(reversed(entries))]

    @classmethod
    def from_config(cls, config: object) -> NoReturn:
        """mem0's way to name a store, a model and an embedder, of which there are none to name here."""
        raise TypeError(
            "There is nothing to configure here: the service has storage, index and embedding. Use "
            f"{cls.__name__}(api_key=…, base_url=…), or {cls.__name__}() with ORGMEM_API_KEY and ORGMEM_BASE_URL."
        )

    @verb
    def reset(self) -> Steps[None]:
        """Empties every memory of the organization, for which the key needs admin."""
        yield from _purge({"scope": "org"})


class Memory(_Verbs[Sync]):
    """mem0's Memory. client is what its calls go through: use it for what mem0 has no name for."""

    def __init__(
        self, client: Orgmem | None = None, *, api_key: str | None = None, base_url: str | None = None
    ) -> None:
        self.client = client if client is not None else Orgmem(api_key, base_url)
        super().__init__(self.client._core)

    def close(self) -> None:
        self.client.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncMemory(_Verbs[Async]):
    """mem0's AsyncMemory."""

    def __init__(
        self, client: AsyncOrgmem | None = None, *, api_key: str | None = None, base_url: str | None = None
    ) -> None:
        self.client = client if client is not None else AsyncOrgmem(api_key, base_url)
        super().__init__(self.client._core)

    async def close(self) -> None:
        await self.client.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def _items(
    messages: str | Message | Sequence[Message], metadata: Mapping[str, Any], occurred_at: str | None
) -> Iterable[dict[str, Any]]:
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    for message in messages:
        if not isinstance(message, Mapping) or "role" not in message or "content" not in message:
            raise ValueError(f"{message!r} is no message: it needs role and content.")
        content = message["content"]
        if not isinstance(content, str):  # the parts of a message that may hold images
            content = "\n".join(part.get("text") or "" for part in content or ())
        if message["role"] == "system" or not content.strip():
            continue
        about = {**metadata, "role": message["role"]}
        if message.get("name"):
            about["actor_id"] = message["name"]
        yield {"content": content, "metadata": about, **({"occurredAt": occurred_at} if occurred_at else {})}


def _time(value: int | float | datetime | str | None) -> str | None:
    """When it was said; mem0 has seconds since 1970."""
    if isinstance(value, int | float):
        value = datetime.fromtimestamp(value, timezone.utc)
    return when(value)


def _kept(user: str | None, items: Sequence[Mapping[str, Any]], item: m.JobItem) -> Answer:
    if item.node_id is None:
        raise OrgmemError(
            f"Message {item.index + 1} could not be kept: {item.error or item.status}. Correct it, and add it again."
        )
    about = items[item.index]
    return {
        "id": memory_id(user, item.node_id),
        "memory": about["content"],
        "event": "NONE" if item.status == "unchanged" else "ADD",
        "actor_id": about["metadata"].get("actor_id"),
        "role": about["metadata"]["role"],
    }


def _memory(user: str | None, node: m.Node) -> Answer:
    content = node.content or ""
    answer: Answer = {
        "id": memory_id(user, node.id),
        "memory": content,
        "hash": hashlib.md5(content.encode(), usedforsecurity=False).hexdigest(),  # mem0's
        "created_at": _stamp(node.created_at),
        "updated_at": _stamp(node.updated_at),
        **_identities(user, node.metadata),
    }
    rest = {k: value for k, value in node.metadata.items() if k not in PROMOTED}
    if rest:
        answer["metadata"] = rest
    return answer


def _identities(user: str | None, metadata: Mapping[str, Any]) -> Answer:
    named = {name: metadata[name] for name in PROMOTED if name in metadata}
    return named if user is None else {"user_id": user, **named}


def _change(memory_id: str, index: int, entry: m.HistoryEntry) -> Answer:
    content = next((change for change in entry.changes if change.field == "content"), None)
    gone = entry.action == "forgotten"
    return {
        "id": f"{memory_id}#{index}",
        "memory_id": memory_id,
        "old_memory": content.before if content else None,
        "new_memory": content.after if content else None,
        "event": "DELETE" if gone else "ADD" if entry.action == "created" else "UPDATE",
        "created_at": _stamp(entry.at),
        "updated_at": _stamp(entry.at),
        "is_deleted": gone,
        "actor_id": None,
        "role": None,
    }


def _stamp(at: datetime) -> str:
    return at.isoformat()


def _most(top_k: int | None, limit: int | None) -> int:
    most = top_k if top_k is not None else limit if limit is not None else TOP_K
    if most < 1:
        raise ValueError("top_k must be at least 1")
    return most


def _unless_unknown(call: Call[T]) -> Steps[T | None]:
    """What a call answers; None where there is no such thing, or nothing was ever added for this user."""
    try:
        return (yield from do(call))
    except NotFound as why:
        if why.code != "node_not_found":
            raise
    except PermissionDenied as why:
        if why.code != "subject_not_provisioned":
            raise
    return None


def _pages(page_of: Callable[[str | None], Call[m.Page[T]]]) -> Steps[list[T]]:
    """All entries of a list; of a user for whom nothing was ever added none."""
    entries: list[T] = []
    cursor: str | None = None
    cursors = Cursors()
    while True:
        page = yield from _unless_unknown(page_of(cursor))
        if page is None:
            return entries
        entries += page.data
        cursor = cursors.next(page)
        if cursor is None:
            return entries


def _all(place: Place, most: int | None) -> Steps[list[str]]:
    """The ids of what was taken in and is live, without what the service made of it."""
    ids: list[str] = []
    cursor: str | None = None
    cursors = Cursors()
    while True:
        call = d.get("/v1/graph/nodes", d.NODES, status="live", pageSize=PAGE, cursor=cursor)
        page = yield from _unless_unknown(_as(place.user, call))
        for node in page.data if page else ():
            if node.kind not in ("entity", "session") and place.has(node.metadata):
                ids.append(node.id)
        cursor = cursors.next(page) if page else None
        if cursor is None or (most is not None and len(ids) >= most):
            return ids[:most]


def _purge(what: Mapping[str, Any]) -> Steps[None]:
    for tries in range(1, MOST_TRIES + 1):
        preview = yield from do(d.post("/v1/purge", d.PURGE_REPORT, {**what, "dryRun": True}, repeatable=True))
        body = {**what, "dryRun": False, "confirmToken": preview.confirm_token}
        try:
            yield from do(d.post("/v1/purge", d.PURGE_REPORT, body))
            return
        except Conflict as why:
            if why.code != "purge_impact_changed" or tries == MOST_TRIES:
                raise
