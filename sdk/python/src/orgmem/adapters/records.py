"""Exact records in a memory: kept under an id, replaced, listed by group, forgotten.

A memory finds by meaning and takes in asynchronously; a framework's store wants what was
put, at once and to the letter. This is what stands between.

A record is one node ("head"):

- its externalId is the record's; the service finds a node by it exactly;
- its metadata holds the data, as one JSON string: that is what is given back, never the
  text. JSON in a string keeps what metadata itself would refuse (U+0000, deep nesting);
- its content is the text to be found by, and a last line of made-up words: one that no
  other record has, since equal contents would be one node, and one for each group, by
  which the keyword index lists the group. They are made of letters alone, so that nobody
  takes them for the name of a thing.

Data above the service's limit for metadata (64 KiB) is kept in further nodes ("parts"),
which are written before the head that names them: a reader sees the old data or the new.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import unicodedata
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orgmem import Conflict, NotFound, OrgmemError, Page
from orgmem.adapters.clients import Call, Steps
from orgmem.models import Node

MOST_TEXT = 200_000  # characters of a text that are indexed: an edit's body has at most 1 MiB
MOST_INLINE = 56_000  # bytes of data in the head, which leaves 8 KiB of its metadata to the rest
PART_CHARACTERS = 15_000  # of data in a part: at most 60,000 bytes, whatever they are
MOST_PARTS = 1_000
MOST_ITEMS = 500  # in one request; the service takes 1,000
MOST_BODY = 6 << 20  # bytes of one request, about; the service takes 10 MiB
MOST_NAME = 200  # characters of a name in the metadata
PAGE = 100
MOST_QUERY = 10_000  # characters; the service takes no more
MOST_HITS = 100  # of one search
MOST_TRIES = 5  # until a record that others write at the same time is given up


class RecordTooLarge(ValueError):
    """Data that is larger than what is kept of one record."""


class LostRace(OrgmemError):
    """Others wrote and forgot the record, again and again, while it was written here."""


@dataclass(frozen=True)
class Record:
    """A record as it is kept."""

    node_id: str
    data: Any
    created: datetime
    updated: datetime


@dataclass(frozen=True)
class Draft:
    """A record to be kept."""

    id: str
    data: Any
    text: str
    groups: Sequence[str] = ()  # listed by these
    tags: Sequence[str] = ()  # searched with these; costs the text nothing
    about: tuple[tuple[str, str], ...] = ()  # metadata for people who look at the node


def word(*parts: str, letters: int = 12) -> str:
    """A made-up word for some names: the same for the same ones."""
    hashed = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    # a to p for 0 to f: a word with digits would be taken for the name of a ticket.
    return "".join(chr(ord("a") + int(digit, 16)) for digit in hashed[:letters])


def clean(text: str) -> str:
    """A text as the service takes it: no control characters, no half of a surrogate pair."""
    visible = "".join(c if c >= " " or c in "\n\t" else " " for c in text)
    return visible.encode("utf-8", "replace").decode()


def shown(name: str) -> str:
    """A name as people see it in a node's metadata."""
    return clean(name)[:MOST_NAME]


def blank(text: str) -> bool:
    """Whether nothing of a text can be seen, so that there is nothing to search for."""
    return all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf", "Zs", "Zl", "Zp") for c in text)


def encode(data: Any) -> str:
    """Data as the JSON that is kept."""
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        text.encode()
        return text
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can spell
        return json.dumps(data, separators=(",", ":"))


def _bytes(data: str) -> int:
    """What data take as a string in JSON."""
    return len(json.dumps(data, ensure_ascii=False).encode())


def _parts(data: str) -> Iterator[str]:
    return (data[i : i + PART_CHARACTERS] for i in range(0, len(data), PART_CHARACTERS))


def _is_head(node: Node) -> bool:
    """Whether a node is the head of a record. Its metadata alone say nothing: what a person puts in its place has them
    too, but not its externalId."""
    return node.metadata.get("record") in node.source.external_ids


def _tagged(node: Node, tag: str) -> bool:
    """Whether a node is the head of a record with a tag. A word in its text alone says nothing."""
    return node.metadata.get(tag) is True and _is_head(node)


def _look_up(external: str) -> Call:
    """A call for the node that an externalId means. Its text is not wanted: one request, where find has two."""
    return lambda client: client.list(external_id=external).page()


def _meant(page: Page[Node]) -> Node | None:
    return page.data[0] if page.data else None


def _record(head: Node, data: str) -> Record:
    meta = head.metadata
    times = (datetime.fromisoformat(str(meta[name])) for name in ("created", "updated"))
    return Record(head.id, json.loads(data), *times)


def _or_none(verb: str, *args: Any) -> Call:
    """A call of a verb on a node that answers None where the node is gone, or is superseded and not to be edited."""

    def call(client: Any) -> Any:
        try:
            answer = getattr(client, verb)(*args)
        except (NotFound, Conflict):
            return None
        return awaited(answer) if inspect.isawaitable(answer) else answer

    async def awaited(answer: Awaitable[Any]) -> Any:
        try:
            return await answer
        except (NotFound, Conflict):
            return None

    return call


def _erase(id: str) -> Call:
    """A call that forgets a node, and answers whether it was this one that did. A node that is gone at a repeated try
    counts: the first one forgot it, and its answer was lost. (Or somebody else did in between: then two believe that
    they did, which is better than that nobody does.)"""

    def call(client: Any) -> Any:
        try:
            answer = client.delete(id)
        except (NotFound, Conflict) as why:
            return isinstance(why, NotFound) and why.tries > 1
        return awaited(answer) if inspect.isawaitable(answer) else True

    async def awaited(answer: Awaitable[Any]) -> bool:
        try:
            await answer
        except (NotFound, Conflict) as why:
            return isinstance(why, NotFound) and why.tries > 1
        return True

    return call


def _lost(id: str) -> LostRace:
    return LostRace(
        f"The record {id!r} was written and forgotten by others {MOST_TRIES} times while it was to be read or written. "
        "Try again; if it stays, let one process at a time write it."
    )


class Records:
    """The records that one application keeps in a memory."""

    def __init__(self, app: str, name: str, clock: Callable[[], datetime]) -> None:
        self.app = app
        self.name = name
        self._clock = clock

    def external_id(self, id: str) -> str:
        return f"{self.app}:{word(self.app, self.name, id, letters=32)}"

    def word_of(self, id: str) -> str:
        """The word that no other record's text has."""
        return word(self.app, self.name, "record", id, letters=24)

    def group(self, *names: str) -> str:
        return word(self.app, self.name, "group", *names)

    # Reading

    def get(self, id: str) -> Steps[Record | None]:
        """The record that an id means now."""
        external = self.external_id(id)
        for _ in range(MOST_TRIES):
            head = _meant((yield _look_up(external)))
            if head is None or head.status != "live" or not _is_head(head):
                return None
            data = yield from self._data(head)
            if data is not None:
                return _record(head, data)
            # Its parts are gone: it was replaced or forgotten since. Look again.
        raise _lost(id)

    def page(self, group: str, cursor: str | None = None, size: int = PAGE) -> Steps[tuple[list[Record], str | None]]:
        """A page of the records of a group, the newest first, and the cursor of the next."""
        page = yield lambda c: c.list(q=group, kind="document", status="live", page_size=size).page(cursor)
        records = yield from self._read(n for n in page.data if _tagged(n, group))
        return records, page.next_cursor if page.has_more else None

    def all(self, group: str) -> Steps[list[Record]]:
        """All records of a group, the newest first."""
        records: list[Record] = []
        cursor: str | None = None
        while True:
            more, cursor = yield from self.page(group, cursor)
            records += more
            if cursor is None:
                return records

    def search(self, query: str, tags: Sequence[str]) -> Steps[list[tuple[str, float]]]:
        """The nodes of the records that fit a query best, each with its score, best first."""
        filters = {"kind": "document", "metadata": dict.fromkeys(tags, True)}
        text = clean(query)[:MOST_QUERY]
        found = yield lambda c: c.search(text, top_k=MOST_HITS, filters=filters)
        best: dict[str, float] = {}
        for hit in found.results:  # a node has a hit for each of its passages
            best.setdefault(hit.node_id, hit.score)
        return list(best.items())

    def of_nodes(self, ids: Sequence[str], tag: str) -> Steps[list[Record]]:
        """The records that nodes hold, as far as they still do."""
        nodes = yield [_or_none("get", id) for id in ids]
        return (yield from self._read(n for n in nodes if n is not None and n.status == "live" and _tagged(n, tag)))

    def _read(self, nodes: Iterable[Node]) -> Steps[list[Record]]:
        records = []
        for node in nodes:
            data = yield from self._data(node)
            if data is not None:  # else it was replaced or forgotten since the list was read
                records.append(_record(node, data))
        return records

    def _data(self, head: Node) -> Steps[str | None]:
        """The data of a head; None where its parts are gone."""
        meta = head.metadata
        if not meta.get("parts"):
            return str(meta["data"])
        chunks: dict[int, str] = {}
        for node in (yield from self._nodes(str(meta["word"]))):
            if node.metadata.get("partOf") == meta["record"] and node.metadata.get("write") == meta["write"]:
                chunks[int(node.metadata["part"])] = str(node.metadata["data"])
        count = int(meta["parts"])
        return "".join(chunks[i] for i in range(count)) if len(chunks) == count else None

    def _nodes(self, some_word: str) -> Steps[list[Node]]:
        """Every node with a word: of a record its heads, earlier heads and parts; of a group the heads."""
        nodes: list[Node] = []
        cursor: str | None = None
        while True:
            # Carried out before the cursor changes, hence no B023.
            page = yield lambda c: c.list(q=some_word, kind="document", page_size=PAGE).page(cursor)  # noqa: B023
            nodes += page.data
            if not page.has_more:
                return nodes
            cursor = page.next_cursor

    # Writing

    def put(self, drafts: Sequence[Draft]) -> Steps[None]:
        """Keeps records in place of what their ids meant. They are found when this returns."""
        todo = list(drafts)
        for _ in range(MOST_TRIES):
            pages = yield [_look_up(self.external_id(draft.id)) for draft in todo]
            added: list[tuple[Draft, dict[str, Any]]] = []
            edits, edited = [], []
            for draft, page in zip(todo, pages, strict=True):
                head = _meant(page)
                if head is None or head.status != "live":
                    # By its externalId, so that of two first puts at once the later takes the earlier's place.
                    added.append((draft, (yield from self._head(draft, None))))
                    continue
                item = yield from self._head(draft, head)
                patch = {name: item[name] for name in ("content", "metadata")}
                edits.append(_or_none("update", head.id, patch))
                edited.append((draft, head, item["metadata"].get("write")))
            unchanged = yield from self._add_all([item for _, item in added])
            todo = []
            for (draft, head, write), node in zip(edited, (yield edits), strict=True):
                if node is None:
                    todo.append(draft)  # forgotten or replaced since it was found
                elif head.metadata.get("parts"):
                    yield from self._forget_parts(draft.id, but=write)
            # What a person, or another put, has made of the document stands against a text that only repeats itself.
            for draft in (draft for draft, item in added if item["externalId"] in unchanged):
                node = _meant((yield _look_up(self.external_id(draft.id))))
                if node is None or node.status != "live":
                    yield from self.forget(draft.id)
                todo.append(draft)
            if not todo:
                return
        raise _lost(todo[0].id)

    def put_new(self, drafts: Sequence[Draft]) -> Steps[None]:
        """Keeps records whose ids are new, in this order."""
        items = []
        for draft in drafts:
            items.append((yield from self._head(draft, None)))
        yield from self._add_all(items)

    def _add_all(self, items: Sequence[dict[str, Any]]) -> Steps[set[str]]:
        """Adds items in as few requests as it takes, and returns the externalIds of those that changed nothing."""
        unchanged: set[str] = set()
        batch: list[dict[str, Any]] = []
        size = 0
        for item in items:
            more = len(json.dumps(item))
            if batch and (len(batch) == MOST_ITEMS or size + more > MOST_BODY):
                unchanged |= yield from self._add(batch)
                batch, size = [], 0
            batch.append(item)
            size += more
        if batch:
            unchanged |= yield from self._add(batch)
        return unchanged

    def _head(self, draft: Draft, before: Node | None) -> Steps[dict[str, Any]]:
        """The item of a draft's head. Its parts are kept when this returns."""
        external, own = self.external_id(draft.id), self.word_of(draft.id)
        data = encode(draft.data)
        now = self._clock().isoformat()
        created = before.metadata.get("created", now) if before else now
        meta: dict[str, Any] = {"app": self.app, **dict(draft.about)}
        meta |= {"record": external, "word": own, "created": created, "updated": now}
        meta |= dict.fromkeys((*draft.groups, *draft.tags), True)
        if _bytes(data) <= MOST_INLINE:
            meta["data"] = data
        else:
            write = uuid.uuid4().hex
            parts = list(_parts(data))
            if len(parts) > MOST_PARTS:
                raise RecordTooLarge(
                    f"{draft.id!r} has {len(data)} characters of JSON, and at most {MOST_PARTS * PART_CHARACTERS} are "
                    "kept of one record: divide it, or keep the large part elsewhere and its address here."
                )
            meta |= {"parts": len(parts), "write": write}
            items = [
                {
                    "content": f"{own} {word(write, str(i), letters=24)}",
                    "externalId": f"{external}#{write}.{i}",
                    "metadata": {"app": self.app, "partOf": external, "write": write, "part": i, "data": part},
                }
                for i, part in enumerate(parts)
            ]
            yield from self._add_all(items)
        text = clean(draft.text)[:MOST_TEXT]
        words = " ".join([own, *draft.groups])
        return {
            "content": words if blank(text) else f"{text}\n\n{words}",
            "externalId": external,
            "metadata": meta,
        }

    def _add(self, items: list[dict[str, Any]]) -> Steps[set[str]]:
        job = yield lambda c: c.add(items, wait=True)
        outcomes = job.result.items if job.result else ()
        for outcome in outcomes:
            if outcome.status == "failed":
                raise OrgmemError(
                    f"The service took {items[outcome.index]['externalId']} and could not keep it: {outcome.error}. "
                    "Nothing of it is stored; correct what it names and put it again."
                )
        return {items[outcome.index]["externalId"] for outcome in outcomes if outcome.status == "unchanged"}

    def forget(self, id: str) -> Steps[bool]:
        """Forgets a record, with what it was before and what it was divided into. False: there was none."""
        return (yield from self._forget(self.external_id(id), self.word_of(id)))

    def forget_group(self, group: str) -> Steps[None]:
        """Forgets the records of a group."""
        while True:
            heads = [n for n in (yield from self._nodes(group)) if n.metadata.get(group) is True]
            if not heads:
                return
            plain = [n for n in heads if n.status == "live" and not n.metadata.get("parts")]
            yield [_or_none("delete", n.id) for n in plain]
            others = {str(n.metadata["record"]): str(n.metadata["word"]) for n in heads if n not in plain}
            for external, own in others.items():
                yield from self._forget(external, own)

    def _forget(self, external: str, own: str) -> Steps[bool]:
        nodes = yield from self._nodes(own)
        current = _meant((yield _look_up(external)))
        heads = {n.id: n for n in nodes if n.metadata.get("record") == external}
        if current:  # also where a person has changed its text or its metadata
            heads[current.id] = current
        # What a person has put in a head's place has its metadata, and with that the data.
        unseen = [n.superseded_by for n in heads.values() if n.superseded_by and n.superseded_by not in heads]
        while unseen:
            found = yield [_or_none("get", node) for node in dict.fromkeys(unseen)]
            after = [n for n in found if n is not None and n.metadata.get("record") == external]
            heads |= {n.id: n for n in after}
            unseen = [n.superseded_by for n in after if n.superseded_by and n.superseded_by not in heads]
        gone = yield [_erase(node) for node in heads]  # first, so that nobody reads a head without parts
        yield [_or_none("delete", n.id) for n in nodes if n.metadata.get("partOf") == external]
        return any(was and n.status == "live" for was, n in zip(gone, heads.values(), strict=True))

    def _forget_parts(self, id: str, *, but: str | None) -> Steps[None]:
        external = self.external_id(id)
        nodes = yield from self._nodes(self.word_of(id))
        yield [
            _or_none("delete", n.id)
            for n in nodes
            if n.metadata.get("partOf") == external and n.metadata.get("write") != but
        ]
