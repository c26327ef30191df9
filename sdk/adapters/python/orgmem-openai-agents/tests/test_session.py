"""The session against a real server, alone and under the SDK's runner."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import httpx
import pytest
from agents import Agent, Model, ModelResponse, Runner, Usage
from agents.memory import Session, SessionSettings, SQLiteSession
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from conftest import subject_of
from orgmem import AsyncOrgmem, Orgmem, OrgmemError
from orgmem_openai_agents import OrgmemSession


@pytest.fixture
def session(amemory: AsyncOrgmem) -> OrgmemSession:
    return OrgmemSession("one", async_client=amemory)


def said(text: str, role: str = "user") -> Any:
    return {"role": role, "content": text}


ITEMS: list[Any] = [
    said("Hello"),
    said("Hello"),
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "\\u0000 \\"sky\\""}'},
    {"type": "function_call_output", "call_id": "c1", "output": "x" * 150_000},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "gAAA=="},
    {
        "type": "message",
        "role": "assistant",
        "id": "m",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It is blue.", "annotations": [], "logprobs": []}],
    },
    said(" \n"),
    said("a\x00b 👩‍👩‍👧 \ud800"),
    {"role": "user", "content": [{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AA=="}]},
]


async def test_items_come_back_to_the_letter_and_in_order(session: OrgmemSession, amemory: AsyncOrgmem) -> None:
    assert isinstance(session, Session)
    await session.add_items(ITEMS[:3])
    await session.add_items([])
    await session.add_items(ITEMS[3:])
    assert await session.get_items() == ITEMS
    assert await OrgmemSession("one", async_client=amemory).get_items() == ITEMS, "in another process too"
    for limit in (1, 2, 6, 9, 100):
        assert await session.get_items(limit) == ITEMS[-limit:]
    assert await session.get_items(0) == []


async def test_a_long_batch_keeps_its_order(session: OrgmemSession) -> None:
    """Its items are of one moment, and lie over several pages of the service."""
    items = [said(f"line {i}") for i in range(130)]
    await session.add_items(items)
    await session.add_items([said("last")])
    everything = [*items, said("last")]
    assert await session.get_items() == everything
    for limit in (1, 2, 99, 101, 130, 131):
        assert await session.get_items(limit) == everything[-limit:]
    assert [await session.pop_item(), await session.pop_item()] == [said("last"), items[-1]]


async def test_pop_forgets(session: OrgmemSession, memory: Orgmem) -> None:
    assert await session.pop_item() is None
    await session.add_items([said("The first."), said("The secret is Quetzalcoatl.")])
    assert memory.search("Quetzalcoatl").results
    assert await session.pop_item() == said("The secret is Quetzalcoatl.")
    assert await session.get_items() == [said("The first.")]
    assert not [h for h in memory.search("Quetzalcoatl").results if "Quetzal" in h.chunk]
    assert await session.pop_item() == said("The first.")
    assert await session.pop_item() is None and list(memory.list()) == []


async def test_a_large_item_leaves_nothing_behind(session: OrgmemSession, memory: Orgmem) -> None:
    await session.add_items([said("x" * 100), {"type": "function_call_output", "call_id": "c", "output": "y" * 90_000}])
    await session.pop_item()
    assert len(list(memory.list(kind="document"))) == 1
    await session.add_items([{"type": "compaction", "encrypted_content": "z" * 90_000}])
    await session.clear_session()
    assert list(memory.list(kind="document")) == []


async def test_two_sessions_are_apart(session: OrgmemSession, amemory: AsyncOrgmem, memory: Orgmem) -> None:
    memory.add("Something else that is kept here.", wait=True)
    other = OrgmemSession("two", async_client=amemory)
    await session.add_items([said("Hello"), said("Ann")])
    await other.add_items([said("Hello"), said("Bob")])
    assert await session.get_items() == [said("Hello"), said("Ann")]
    await session.clear_session()
    assert await session.get_items() == [] and await session.get_items(5) == []
    assert await other.get_items() == [said("Hello"), said("Bob")], "an equal item of another session stays"
    await session.clear_session()
    assert memory.search("kept here").results, "what is no session's stays"


async def test_an_item_is_popped_by_one(session: OrgmemSession, amemory: AsyncOrgmem) -> None:
    await session.add_items([said(str(i)) for i in range(6)])
    others = [OrgmemSession("one", async_client=amemory) for _ in range(8)]
    popped = await asyncio.gather(*(one.pop_item() for one in others))
    texts = sorted(p["content"] for p in popped if p is not None)  # type: ignore[typeddict-item]
    assert texts == [str(i) for i in range(6)] and popped.count(None) == 2


class Lossy(httpx.AsyncHTTPTransport):
    """Loses the answers to the next deletions."""

    lose = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if request.method == "DELETE" and Lossy.lose > 0:
            Lossy.lose -= 1
            await response.aread()
            raise httpx.ReadError("the connection broke")
        return response


async def test_a_pop_whose_answer_is_lost_takes_one(
    monkeypatch: pytest.MonkeyPatch, memory: Orgmem, server: Any, key: str
) -> None:
    """The try that is repeated finds nothing to forget; it must not take the item before it, too."""
    async with AsyncOrgmem(key, server.url, max_retries=2, transport=Lossy()) as owner:
        session = OrgmemSession("one", async_client=owner.subject(subject_of(memory)))
        items = [said(str(i)) for i in range(4)]
        await session.add_items(items)
        monkeypatch.setattr(Lossy, "lose", 1)
        assert await session.pop_item() == items[3]
        assert Lossy.lose == 0, "no answer was lost: the test proves nothing"
        assert await session.get_items() == items[:3]
        monkeypatch.setattr(Lossy, "lose", 3)  # all tries of one call
        with pytest.raises(OrgmemError):
            await session.pop_item()
        assert await session.pop_item() == items[2]
        assert await session.get_items() == items[:2]
        assert [await session.pop_item(), await session.pop_item(), await session.pop_item()] == [items[1], items[0], None]


async def test_adds_at_once_are_whole(session: OrgmemSession) -> None:
    batches = [[said(f"{b} {i}") for i in range(5)] for b in range(10)]
    await asyncio.gather(*(session.add_items(batch) for batch in batches))
    found = await session.get_items()
    assert sorted(batches, key=str) == sorted((found[i : i + 5] for i in range(0, 50, 5)), key=str)


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_operations_are_those_of_the_sdk(amemory: AsyncOrgmem, seed: int) -> None:
    """SQLiteSession of the SDK is the model."""
    choose = random.Random(seed)
    model, ours = SQLiteSession("s"), OrgmemSession("s", async_client=amemory)
    for step in range(60):
        what = choose.choices(["add", "pop", "get", "clear", "new"], [6, 4, 4, 0.4, 1])[0]
        if what == "add":
            items = [choose.choice([said(f"item {step}.{i}"), said("again")]) for i in range(choose.randint(0, 4))]
            await model.add_items(items)
            await ours.add_items(items)
        elif what == "pop":
            assert await ours.pop_item() == await model.pop_item(), f"seed {seed}, step {step}"
        elif what == "clear":
            await model.clear_session()
            await ours.clear_session()
        elif what == "new":
            ours = OrgmemSession("s", async_client=amemory)
        limit = choose.choice([None, 1, 2, 5])
        assert await ours.get_items(limit) == await model.get_items(limit), f"seed {seed}, step {step}"
    model.close()


async def test_the_limit_of_its_settings_holds(amemory: AsyncOrgmem) -> None:
    session = OrgmemSession("one", async_client=amemory, session_settings=SessionSettings(limit=2))
    await session.add_items([said(str(i)) for i in range(5)])
    assert await session.get_items() == [said("3"), said("4")]
    assert len(await session.get_items(4)) == 4


class Echo(Model):
    """Answers with how many items it was given, and the first thing that was said."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **options: Any) -> ModelResponse:
        first = next(i["content"] for i in input if i.get("role") == "user") if isinstance(input, list) else input
        text = ResponseOutputText(type="output_text", text=f"{len(input)} items, first: {first}", annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError


async def test_an_agent_remembers_by_it(session: OrgmemSession, amemory: AsyncOrgmem) -> None:
    agent = Agent(name="echo", model=Echo())
    await Runner.run(agent, "I am allergic to peanuts.", session=session)
    again = OrgmemSession("one", async_client=amemory)
    result = await Runner.run(agent, "What did I say?", session=again)
    assert result.final_output == "3 items, first: I am allergic to peanuts."
    assert len(await again.get_items()) == 4
    hits = (await amemory.search("allergies")).results
    assert "peanuts" in hits[0].chunk, "what was said is memory, too"
