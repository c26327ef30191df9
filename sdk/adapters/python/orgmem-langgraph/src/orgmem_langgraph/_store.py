"""The store: what each operation of LangGraph's BaseStore is in a memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Literal, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)
from langgraph.store.base import InvalidNamespaceError as InvalidNamespaceError
from orgmem import AsyncOrgmem, Orgmem
from orgmem.adapters.clients import Clients, Steps
from orgmem.adapters.records import Draft, Record, Records, blank, shown

from ._filters import matches

ROOT = ()
INDEXED = "indexed"
MOST_TAGS = 200  # texts of a value that a search can be narrowed by, of 20 bytes of metadata each
MOST_PUSHED = 14  # conditions that a search sends; the service takes 16 in all, and two are ours
LEAST_FETCHED = 10  # hits that are fetched together

Fields = Sequence[str] | None


class OrgmemStore(BaseStore):
    """Keeps a graph's long-term memory in orgmem.

    put returns when the item is there: a following get, search or list_namespaces, from any
    process, sees it. delete forgets the item with everything that was read out of it.
    """

    supports_ttl = False
    ttl_config = None

    def __init__(
        self,
        client: Orgmem | None = None,
        async_client: AsyncOrgmem | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        subject: str | None = None,
        name: str = "default",
        fields: Sequence[str] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        """Without clients, makes its own of api_key and base_url (else ORGMEM_API_KEY and ORGMEM_BASE_URL).

        subject: the provisioned subject whose memory this is; by default the memory of the key's owner.
        name: two stores of one memory see each other's items only if they have the same name.
        fields: the paths whose text items are found by; by default all text of an item. put's index goes before.
        clock: for tests.
        """
        self._clients = Clients(client, async_client, api_key=api_key, base_url=base_url, subject=subject)
        self._records = Records("langgraph", name, clock)
        self._fields = list(fields) if fields is not None else None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations: the reads first, as of before the writes; of several puts of a key the last."""
        return self._clients.run(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """batch, without holding up the event loop."""
        return await self._clients.arun(self._batch(list(ops)))

    def close(self) -> None:
        """Closes the connections of the sync methods, where no client was passed."""
        self._clients.close()

    async def aclose(self) -> None:
        """close, and with it the connections of this event loop."""
        await self._clients.aclose()

    def _batch(self, ops: list[Op]) -> Steps[list[Result]]:
        for op in ops:
            _check(op)
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, GetOp):
                results.append((yield from self._get(op)))
            elif isinstance(op, SearchOp):
                results.append(cast("Result", (yield from self._search(op))))
            elif isinstance(op, ListNamespacesOp):
                results.append((yield from self._list_namespaces(op)))
            else:
                puts[op.namespace, op.key] = op
                results.append(None)
        for put in puts.values():
            if put.value is None:
                yield from self._records.forget(_id(put.namespace, put.key))
        yield from self._records.put([self._draft(put) for put in puts.values() if put.value is not None])
        return results

    def _get(self, op: GetOp) -> Steps[Item | None]:
        record = yield from self._records.get(_id(op.namespace, op.key))
        return None if record is None else Item(**_fields_of(record))

    def _draft(self, op: PutOp) -> Draft:
        value = dict(op.value or {})
        indexed = op.index is not False
        return Draft(
            _id(op.namespace, op.key),
            {"namespace": list(op.namespace), "key": op.key, "value": value},
            text=_text(value, self._fields if op.index is None else cast("Fields", op.index)) if indexed else "",
            groups=[self._namespace(op.namespace[:depth]) for depth in range(len(op.namespace) + 1)],
            tags=[*([self._records.group(INDEXED)] if indexed else ()), *self._conditions(value, MOST_TAGS)],
            about=(("namespace", shown(".".join(op.namespace))), ("key", shown(op.key))),
        )

    def _search(self, op: SearchOp) -> Steps[list[SearchItem]]:
        group = self._namespace(op.namespace_prefix)

        def kept(records: Iterable[Record]) -> list[Record]:
            return [r for r in records if _below(r, op.namespace_prefix) and matches(r.data["value"], op.filter)]

        end = op.offset + op.limit
        if not op.query or blank(op.query):
            found: list[Record] = []
            cursor: str | None = None
            while len(found) < end:
                page, cursor = yield from self._records.page(group, cursor)
                found += kept(page)
                if cursor is None:
                    break
            return [_found(r) for r in found[op.offset : end]]

        tags = [group, self._records.group(INDEXED), *self._conditions(op.filter or {}, MOST_PUSHED)]
        scores = dict((yield from self._records.search(op.query, tags)))
        page, cursor = yield from self._records.page(group)
        known = {r.node_id: r for r in page}
        best, found = list(scores), []
        while best and len(found) < end:
            some, best = best[: max(end - len(found), LEAST_FETCHED)], best[max(end - len(found), LEAST_FETCHED) :]
            # Behind the newest page, or without the line of words, which a person has cut off: fetched one by one.
            if missing := [id for id in some if id not in known]:
                known |= {r.node_id: r for r in (yield from self._records.of_nodes(missing, group))}
            found += kept(known[id] for id in some if id in known)
        # What the query says nothing about comes behind, as in LangGraph's own stores.
        found += kept(r for r in page if r.node_id not in scores)
        while cursor is not None and len(found) < end:
            page, cursor = yield from self._records.page(group, cursor)
            found += kept(r for r in page if r.node_id not in scores)
        return [_found(r, scores.get(r.node_id)) for r in found[op.offset : end]]

    def _list_namespaces(self, op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
        conditions = op.match_conditions or ()
        prefixes = [c.path for c in conditions if c.match_type == "prefix" and "*" not in c.path]
        longest = max(prefixes, key=len, default=ROOT)
        records = yield from self._records.all(self._namespace(longest))
        namespaces = {tuple(r.data["namespace"]) for r in records}
        found = {n[: op.max_depth] for n in namespaces if all(_matches_path(c, n) for c in conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _namespace(self, path: Sequence[str]) -> str:
        return self._records.group("namespace", *path)

    def _conditions(self, of: Mapping[str, Any], most: int) -> list[str]:
        """The tags for the texts of a value, or of a filter: what a search can be narrowed by.

        Only texts, and only whole ones: of numbers and booleans Python holds 1, 1.0 and True for equal.
        """
        names = []
        for key, wanted in of.items():
            if isinstance(wanted, Mapping) and set(wanted) == {"$eq"}:
                wanted = wanted["$eq"]
            if isinstance(key, str) and isinstance(wanted, str):
                names.append(self._records.group("equal", key, wanted))
        return names[:most]


def _check(op: Op) -> None:
    """Refuses what BaseStore's methods refuse, for those who come by batch."""
    if isinstance(op, GetOp | PutOp):
        _check_labels(op.namespace)
    elif isinstance(op, SearchOp):
        _check_labels(op.namespace_prefix)
    elif isinstance(op, ListNamespacesOp):
        for condition in op.match_conditions or ():
            _check_labels(condition.path)
    else:
        raise ValueError(f"Unknown operation type: {type(op)}")
    if isinstance(op, PutOp) and op.ttl is not None:
        raise NotImplementedError(
            "TTL is not supported by OrgmemStore: the service forgets when it is told to, and nothing by itself. "
            "Leave ttl out, and call delete(namespace, key) when the item has had its time."
        )


def _check_labels(labels: Sequence[Any]) -> None:
    for label in labels:
        if not isinstance(label, str) or not label or "." in label or "\x00" in label:
            raise InvalidNamespaceError(
                f"{label!r} in {tuple(labels)} is no label of a namespace: it must be text, with at least one "
                "character, no period and no U+0000."
            )


def _id(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([namespace, key])  # and not joined: a key may hold any character


def _text(value: Mapping[str, Any], fields: Fields) -> str:
    """What an item is found by."""
    if fields is None or "$" in fields:
        return "\n".join(_leaves(value))
    return "\n".join(text for field in fields for text in get_text_at_path(value, field))


def _leaves(value: Any, name: str = "") -> Iterable[str]:
    """The texts in a value. What is no text says little without its name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _leaves(one, str(key))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one, name)
    elif value is not None:
        yield f"{name}: {value}"


def _below(record: Record, prefix: tuple[str, ...]) -> bool:
    return tuple(record.data["namespace"][: len(prefix)]) == tuple(prefix)


def _found(record: Record, score: float | None = None) -> SearchItem:
    return SearchItem(**_fields_of(record), score=score)


def _fields_of(record: Record) -> dict[str, Any]:
    data = record.data
    return {
        "namespace": tuple(data["namespace"]),
        "key": data["key"],
        "value": data["value"],
        "created_at": record.created,
        "updated_at": record.updated,
    }


def _matches_path(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    kind: Literal["prefix", "suffix"] = condition.match_type
    if kind == "prefix":
        part = namespace[: len(path)]
    elif kind == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"Unsupported match type: {kind}")
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
