"""The session: a conversation of the OpenAI Agents SDK, kept as records of a memory."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import SessionSettings
from orgmem import AsyncOrgmem, Orgmem
from orgmem.adapters.clients import Clients, Steps
from orgmem.adapters.records import PAGE, Draft, Record, Records, shown

MARGIN = 10  # items that are read beyond those asked for, so that a small batch is read whole

# Names of fields whose text is what somebody said or a tool gave; anything else (ids, states,
# encrypted reasoning) is kept, and nobody searches for it.
SPOKEN = ("content", "text", "transcript", "refusal", "summary", "output", "arguments", "name")


class OrgmemSession:
    """Keeps the history of one conversation, so that it outlives the process and can be searched.

    What add_items has taken is there when it returns, for get_items of any process, in the
    order in which it was added. pop_item and clear_session forget for good.
    """

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        client: Orgmem | None = None,
        async_client: AsyncOrgmem | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        subject: str | None = None,
        session_settings: SessionSettings | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        """Without clients, makes its own of api_key and base_url (else ORGMEM_API_KEY and ORGMEM_BASE_URL).

        subject: the provisioned subject whose memory the conversation is kept in; by default the key owner's.
        session_settings: its limit is that of get_items where none is given.
        clock: for tests.
        """
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._clients = Clients(client, async_client, api_key=api_key, base_url=base_url, subject=subject)
        self._records = Records("openai-agents", session_id, clock)
        self._group = self._records.group("items")
        self._clock = clock
        self._last = 0
        # What a pop_item was to forget that has failed: whether it is forgotten is not known.
        self._unsure: Record | None = None

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history, oldest first; with a limit the newest so many of it."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        records = await self._clients.arun(self._newest(limit))
        return [cast("TResponseInputItem", r.data["item"]) for r in records]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items. They are kept when this returns."""
        if items:
            await self._clients.arun(self._add([_plain(item) for item in items]))

    async def pop_item(self) -> TResponseInputItem | None:
        """Forgets the newest item, and returns it; None if there is no item.

        After an error the item may be forgotten or not: the next call forgets and returns this very one.
        """
        return cast("TResponseInputItem | None", await self._clients.arun(self._pop()))

    async def clear_session(self) -> None:
        """Forgets all items of this session, and nothing else."""
        await self._clients.arun(self._records.forget_group(self._group))
        self._unsure = None

    async def aclose(self) -> None:
        """Closes the connections of this event loop, where no client was passed."""
        await self._clients.aclose()

    def _newest(self, limit: int | None) -> Steps[list[Record]]:
        """The newest records, oldest first."""
        size = PAGE if limit is None else min(PAGE, limit + MARGIN)
        found: list[Record] = []
        cursor: str | None = None
        while True:
            page, cursor = yield from self._records.page(self._group, cursor, size)
            found = sorted([*page, *found], key=_place)
            # The items of one batch may be of one moment, and a page may end among them: only what is of a later
            # batch than the oldest so far is surely newer than all that is still to come.
            if cursor is None or (
                limit is not None and len(found) >= limit and _batch(found[-limit]) > _batch(found[0])
            ):
                return found if limit is None else found[-limit:]

    def _add(self, items: list[dict[str, Any]]) -> Steps[None]:
        page, _ = yield from self._records.page(self._group, size=MARGIN)
        newest = max((_batch(r) for r in page), default=0)
        # Microseconds, and above all that are there, whosever clock they were of.
        self._last = batch = max(int(self._clock().timestamp() * 1e6), newest + 1, self._last + 1)
        yield from self._records.put_new([self._draft(item, batch, i) for i, item in enumerate(items)])

    def _draft(self, item: dict[str, Any], batch: int, index: int) -> Draft:
        id = uuid.uuid4().hex
        role = str(item.get("role") or item.get("type") or "item")
        return Draft(
            id,
            {"id": id, "item": item, "batch": batch, "index": index},
            text="\n".join(_spoken(item)),
            groups=[self._group],
            about=(("session", shown(self.session_id)), ("role", shown(role))),
        )

    def _pop(self) -> Steps[dict[str, Any] | None]:
        if (unsure := self._unsure) is not None:
            self._unsure = None
            yield from self._forget(unsure)  # where it is gone already, it was forgotten here
            return cast("dict[str, Any]", unsure.data["item"])
        while newest := (yield from self._newest(1)):
            if (yield from self._forget(newest[0])):
                return cast("dict[str, Any]", newest[0].data["item"])
            # Somebody else has popped it in the meantime: it is theirs.
        return None

    def _forget(self, record: Record) -> Steps[bool]:
        try:
            return (yield from self._records.forget(record.data["id"]))
        except BaseException:  # also where the call was cancelled
            self._unsure = record
            raise


def _batch(record: Record) -> int:
    return int(record.data["batch"])


def _place(record: Record) -> tuple[int, int]:
    return _batch(record), int(record.data["index"])


def _plain(item: Any) -> dict[str, Any]:
    """An item as JSON: the SDK also hands models where it says mappings."""
    if isinstance(item, Mapping):
        return dict(item)
    return cast("dict[str, Any]", item.model_dump(mode="json", exclude_unset=True))


def _spoken(value: Any) -> Iterable[str]:
    """The texts of an item that somebody may look for."""
    if isinstance(value, Mapping):
        for name in SPOKEN:
            one = value.get(name)
            if isinstance(one, str):
                yield one
            elif one is not None:
                yield from _spoken(one)
    elif isinstance(value, list):
        for one in value:
            yield from _spoken(one)
