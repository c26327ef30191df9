"""What a type checker says of either client: mypy checks this file, and the functions need not run."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

from orgmem import AsyncEventStream, AsyncOrgmem, AsyncPages, Event, EventStream, Gap, Orgmem, Page, Pages
from orgmem.mem0 import AsyncMemory, Memory
from orgmem.models import Accepted, Job, Node, SearchResult


def sync(client: Orgmem, memory: Memory) -> None:
    assert_type(client.search("x", top_k=3, mode="hybrid"), SearchResult)
    assert_type(client.add("x"), Accepted)
    assert_type(client.add("x", wait=True), Job)
    assert_type(client.list(kind="document"), Pages[Node])
    assert_type(client.list().page(), Page[Node])
    assert_type(client.subject("ann"), Orgmem)
    assert_type(client.jobs.wait("x"), Job)
    assert_type(client.exports.download("x", "y"), Path)
    assert_type(client.keys.revoke("x"), None)
    assert_type(client.events(), EventStream)
    for item in client.events():
        assert_type(item, Event | Gap)
    assert_type(memory.reset(), None)
    client.search("x", topk=3)  # type: ignore[call-arg]
    client.search(3)  # type: ignore[arg-type]
    client.search("x", mode="exact")  # type: ignore[arg-type]


async def asynchronous(client: AsyncOrgmem, memory: AsyncMemory) -> None:
    assert_type(await client.search("x", top_k=3, mode="hybrid"), SearchResult)
    assert_type(await client.add("x"), Accepted)
    assert_type(await client.add("x", wait=True), Job)
    assert_type(client.list(kind="document"), AsyncPages[Node])
    assert_type(await client.list().page(), Page[Node])
    assert_type(client.subject("ann"), AsyncOrgmem)
    assert_type(await client.jobs.wait("x"), Job)
    assert_type(await client.exports.download("x", "y"), Path)
    assert_type(client.events(), AsyncEventStream)
    async for item in client.events():
        assert_type(item, Event | Gap)
    assert_type(await memory.reset(), None)
    client.jobs.wait("x")  # type: ignore[unused-coroutine]
