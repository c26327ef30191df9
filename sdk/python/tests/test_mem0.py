"""What a program that was written for mem0 calls, against the real service."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from both import KINDS
from conftest import Server
from orgmem import Conflict, NotFound, Orgmem, OrgmemError, _describe
from orgmem.mem0 import AsyncMemory, Memory

NUTS = "I am allergic to nuts."


class Either:
    """mem0's Memory or AsyncMemory, with calls that return what they answer."""

    def __init__(self, kind: str, key: str, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self.kind = kind
        self.memory: Any = (AsyncMemory if kind == "async" else Memory)(api_key=key, base_url=url)

    def __call__(self, name: str, *args: Any, **options: Any) -> Any:
        answer = getattr(self.memory, name)(*args, **options)
        return self._loop.run_until_complete(answer) if self.kind == "async" else answer

    def close(self) -> None:
        self("close")
        self._loop.close()


@pytest.fixture(params=KINDS)
def mem0(request: pytest.FixtureRequest, server: Server) -> Any:
    either = Either(str(request.param), server.organization(), server.url)
    yield either
    either.close()


def texts(answer: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in answer["results"]]


def test_the_life_of_a_memory(mem0: Either) -> None:
    added = mem0("add", NUTS, user_id="ann", metadata={"topic": "food"})
    (item,) = added["results"]
    assert item["memory"] == NUTS and item["event"] == "ADD" and item["role"] == "user"
    again = mem0("add", NUTS, user_id="ann", metadata={"topic": "food"})
    assert [(i["id"], i["event"]) for i in again["results"]] == [(item["id"], "NONE")]

    for options in ({"user_id": "ann", "limit": 5}, {"filters": {"user_id": "ann"}, "top_k": 5}):
        found = mem0("search", "what must I not cook?", **options)
        assert [(r["id"], r["user_id"]) for r in found["results"]] == [(item["id"], "ann")]
        assert texts(found) == [NUTS] and found["results"][0]["score"] > 0
        assert mem0("search", "what must I not cook?", threshold=5, **options) == {"results": []}

    got = mem0("get", item["id"])
    assert got["memory"] == NUTS and got["metadata"] == {"topic": "food"} and got["user_id"] == "ann"
    assert got["hash"] == hashlib.md5(NUTS.encode()).hexdigest()  # noqa: S324 (mem0's)

    mem0("update", item["id"], "I am allergic to peanuts.", metadata={"checked": True})
    got = mem0("get", item["id"])
    assert got["memory"] == "I am allergic to peanuts." and got["metadata"] == {"topic": "food", "checked": True}
    mem0("update", item["id"], data="I am allergic to hazelnuts.")
    assert texts(mem0("get_all", user_id="ann")) == ["I am allergic to hazelnuts."]

    events = mem0("history", item["id"])
    assert [(e["event"], e["old_memory"]) for e in events[1:]] == [
        ("UPDATE", NUTS),
        ("UPDATE", "I am allergic to peanuts."),
    ]
    assert events[0]["event"] == "ADD" and events[-1]["new_memory"] == "I am allergic to hazelnuts."
    assert all(e["memory_id"] == item["id"] and not e["is_deleted"] for e in events)

    assert mem0("delete", item["id"]) == {"message": "Memory deleted successfully!"}
    assert mem0("get", item["id"]) is None
    with pytest.raises(NotFound):
        mem0("delete", item["id"])


def test_messages(mem0: Either) -> None:
    messages = [
        {"role": "system", "content": "You are a cook."},
        {"role": "user", "content": "I eat no meat.", "name": "ann"},
        {"role": "assistant", "content": [{"type": "text", "text": "Then I cook lentils."}, {"type": "image_url"}]},
        {"role": "user", "content": "  "},
    ]
    for infer in (True, False):
        kept = mem0("add", messages, user_id="ann/1", run_id="r1", infer=infer, timestamp=1767323045)["results"]
        assert [(i["memory"].strip(), i["role"], i["actor_id"]) for i in kept] == [
            ("I eat no meat.", "user", "ann"),
            ("Then I cook lentils.", "assistant", None),
        ]
    got = mem0("get", kept[0]["id"])
    assert (got["user_id"], got["run_id"], got["role"], got["actor_id"]) == ("ann/1", "r1", "user", "ann")
    assert "metadata" not in got
    assert kept[0]["id"].startswith("ann%2F1/ingest:")


def test_users_agents_and_runs_are_apart(mem0: Either) -> None:
    mem0("add", "The gate code is 1234.", user_id="ann", run_id="monday")
    mem0("add", "The gate code is 5678.", user_id="ann", agent_id="porter")
    mem0("add", "The gate code is 9999.", user_id="bob")
    mem0("add", "The gate code is 0000.", agent_id="porter")

    def codes(**of: Any) -> list[str]:
        found = mem0("search", "gate code", **of)
        listed = mem0("get_all", **of)
        assert sorted(texts(found)) == sorted(texts(listed))
        return sorted(text[-5:-1] for text in texts(found))

    assert codes(user_id="ann") == ["1234", "5678"]
    assert codes(user_id="ann", run_id="monday") == ["1234"]
    assert codes(filters={"user_id": "ann", "agent_id": {"eq": "porter"}}) == ["5678"]
    assert codes(user_id="bob") == ["9999"]
    assert codes(agent_id="porter") == ["0000"]  # in the key owner's own memory
    assert codes(user_id="nobody") == []
    assert len(mem0("get_all", user_id="ann", limit=1)["results"]) == 1

    mem0("delete_all", user_id="ann", run_id="monday")
    assert codes(user_id="ann") == ["5678"]
    assert mem0("delete_all", user_id="ann") == {"message": "Memories deleted successfully!"}
    assert codes(user_id="ann") == []
    mem0("delete_all", user_id="nobody")
    mem0("delete_all", agent_id="porter")
    assert codes(agent_id="porter") == [] and codes(user_id="bob") == ["9999"]
    mem0("reset")
    assert codes(user_id="bob") == []


def test_a_change_in_between_is_seen(mem0: Either, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata is merged here, so what somebody else wrote meanwhile must not go under."""
    id = mem0("add", NUTS, user_id="ann")["results"][0]["id"]
    read = _describe.node_of

    def stale(answer: Any) -> Any:
        node = read(answer)
        node.etag = '"stale"'
        return node

    monkeypatch.setattr(_describe, "node_of", stale)
    with pytest.raises(Conflict):
        mem0("update", id, metadata={"a": 1})


def test_what_cannot_be_had_is_refused(mem0: Either) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: mem0("add", "x"),
        lambda: mem0("search", "x", user_id=" "),
        lambda: mem0("get_all", filters={"topic": "food"}),
        lambda: mem0("delete_all"),
        lambda: mem0("search", "x", user_id="ann", filters={"OR": [{"a": 1}]}),
        lambda: mem0("search", "x", user_id="ann", filters={"a": {"gt": 1}}),
        lambda: mem0("search", "x", user_id="ann", filters={"a": "*"}),
        lambda: mem0("search", "x", user_id="ann", top_k=0),
        lambda: mem0("add", [{"role": "system", "content": "x"}], user_id="ann"),
        lambda: mem0("add", [{"content": "x"}], user_id="ann"),
        lambda: mem0("update", "id"),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("search", {"rerank": True}, "rerank .* final.* Leave rerank away"),
        ("search", {"explain": True}, "client.search"),
        ("add", {"expiration_date": "2030-01-01"}, "expire by itself"),
        ("add", {"prompt": "x"}, "language model"),
        ("get_all", {"show_expired": True}, "expire by itself"),
        ("add", {"version": "v2"}, "version .* no effect"),
    ]
    for name, option, words in refused:
        with pytest.raises(TypeError, match=words):
            mem0(name, *([] if name == "get_all" else ["x"]), user_id="ann", **option)
    with pytest.raises(TypeError, match="Leave expiration_date away"):
        mem0("update", "id", text="x", expiration_date=None)
    with pytest.raises(TypeError, match="Memory\\(\\) with ORGMEM_API_KEY"):
        type(mem0.memory).from_config({"vector_store": {}})


def test_over_a_client_of_ones_own(client: Orgmem) -> None:
    with Memory(client) as memory:
        memory.add("x marks the spot", user_id="ann")
        assert memory.client is client
    with pytest.raises(OrgmemError):
        Memory(api_key="", base_url="http://127.0.0.1:1")
