"""The store against a real server: what a graph relies on."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime, timezone
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from orgmem import AsyncOrgmem, Orgmem
from orgmem_langgraph import OrgmemStore, RecordTooLarge

ANN = ("users", "ann")


@pytest.fixture
def store(memory: Orgmem) -> OrgmemStore:
    return OrgmemStore(memory)


def everything(memory: Orgmem) -> str:
    """All that a memory still says anywhere: nodes of every kind and status, with text, history and metadata."""
    said = []
    for node in [*memory.list(), *memory.list(status="tombstoned")]:
        said.append(node.model_dump_json())
        if node.status != "tombstoned":
            said.append(memory.get(node.id).model_dump_json())
        said += [entry.model_dump_json() for entry in memory.history(node.id)]
    return "\n".join(said)


VALUES: list[dict[str, Any]] = [
    {},
    {"text": ""},
    {"text": " \n\u200b"},
    {"nul": "a\x00b", "control": "\x01\x1f", "half": "\ud800", "emoji": "👩‍👩‍👧", "rtl": "שלום"},
    {"n": 10**40, "f": 0.1, "tiny": 5e-324, "minus": -0.0, "inf": float("inf"), "yes": True, "none": None},
    {"": {"": [[], {}, [None]]}, "data": 1, "record": "x", "parts": 3, "namespace": "y"},
    {"quotes": '"\\' * 100, "html": "<script>&</script>"},
    {"list": list(range(100))},
]


@pytest.mark.parametrize("value", VALUES)
def test_a_value_comes_back_to_the_letter(store: OrgmemStore, value: dict[str, Any]) -> None:
    store.put(ANN, "k", value)
    found = store.get(ANN, "k")
    assert found is not None and (found.value, found.key, found.namespace) == (value, "k", ANN)
    assert [i.value for i in store.search(ANN)] == [value]


def test_a_deep_value_comes_back(store: OrgmemStore) -> None:
    value: dict[str, Any] = {"end": True}
    for _ in range(200):  # the service itself takes 64 levels
        value = {"in": value}
    store.put(ANN, "deep", value)
    found = store.get(ANN, "deep")
    assert found is not None and found.value == value


@pytest.mark.parametrize("size", [55_900, 56_100, 65_537, 150_000])
@pytest.mark.parametrize("character", ["x", '"', "é", "漢"])
def test_a_value_of_any_size_comes_back(store: OrgmemStore, size: int, character: str) -> None:
    value = {"text": character * (size // len(character.encode()))}
    store.put(ANN, "large", value, index=False)
    found = store.get(ANN, "large")
    assert found is not None and found.value == value
    assert [i.value for i in store.search(ANN)] == [value]


def test_a_large_value_leaves_nothing_behind(store: OrgmemStore, memory: Orgmem) -> None:
    store.put(ANN, "k", {"text": "x" * 100_000}, index=False)
    store.put(ANN, "k", {"text": "y" * 80_000}, index=False)
    assert len(list(memory.list())) == 1 + 6, "the head, and the parts of the present value"
    store.put(ANN, "k", {"text": "small"})
    assert len(list(memory.list(kind="document"))) == 1
    store.put(ANN, "k", {"text": "z" * 80_000}, index=False)
    store.delete(ANN, "k")
    assert list(memory.list()) == []


def test_a_value_that_is_too_large_is_refused_before_anything_is_sent(store: OrgmemStore, memory: Orgmem) -> None:
    with pytest.raises(RecordTooLarge, match="divide it"):
        store.put(ANN, "k", {"text": "x" * 15_000_100})
    assert list(memory.list()) == []


def test_what_is_no_json_is_refused(store: OrgmemStore) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        store.put(ANN, "k", {"when": datetime.now(timezone.utc)})
    assert store.get(ANN, "k") is None


def test_put_replaces_and_keeps_when_it_was_made(memory: Orgmem) -> None:
    now = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    store = OrgmemStore(memory, clock=lambda: now[0])
    store.put(ANN, "k", {"v": 1, "old": "zeppelin"})
    now.append(now.pop(0).replace(year=2027))
    store.put(ANN, "k", {"v": 2})
    found = store.get(ANN, "k")
    assert found is not None and found.value == {"v": 2}
    assert (found.created_at.year, found.updated_at.year) == (2026, 2027)
    assert [i.value for i in store.search((), query="zeppelin")] == [{"v": 2}]
    assert not [h for h in memory.search("zeppelin").results if "zeppelin" in h.chunk]


def test_keys_that_look_alike_are_apart(store: OrgmemStore) -> None:
    where = [
        (("a",), "b"),
        (("a", "b"), "b"),
        (("a",), "b\x00b"),
        (("A",), "b"),
        (("a",), "B"),
        (("a",), "b "),
        (("a b",), ""),
        (("ab",), ""),
        (("a",), "é"),
        (("a",), "e\u0301"),
        (("a",), "running"),
        (("a",), "run"),
    ]
    for i, (namespace, key) in enumerate(where):
        store.put(namespace, key, {"text": "the same text", "i": i})
    for i, (namespace, key) in enumerate(where):
        found = store.get(namespace, key)
        assert found is not None and found.value["i"] == i and (found.namespace, found.key) == (namespace, key)
    store.delete(("a",), "b")
    assert store.get(("a",), "b") is None
    assert len(store.search((), limit=100)) == len(where) - 1, "only that one is gone"


def test_equal_values_of_two_keys_are_two_items(store: OrgmemStore) -> None:
    for key in "xy":
        store.put(ANN, key, {"text": "Ann likes tea."})
    store.delete(ANN, "x")
    assert [i.key for i in store.search(ANN, query="tea")] == ["y"]
    store.put(ANN, "x", {"text": "Ann likes tea."})
    assert {i.key for i in store.search(ANN)} == {"x", "y"}


def test_delete_forgets_everywhere(store: OrgmemStore, memory: Orgmem) -> None:
    secret = "Quetzalcoatl"
    store.put(ANN, "k", {"text": f"Ann prefers {secret} coffee. She works at {secret} Limited in Lisbon."})
    store.put(ANN, "k", {"text": f"Ann prefers {secret} tea to coffee."})
    assert secret in everything(memory)
    store.delete(ANN, "k")
    assert store.get(ANN, "k") is None and store.search((), query=secret) == [] and store.list_namespaces() == []
    assert secret not in everything(memory)
    assert memory.search(secret).results == []


def test_delete_forgets_what_was_superseded_by_hand(store: OrgmemStore, memory: Orgmem) -> None:
    store.put(ANN, "k", {"text": "The xylophone is in the attic."})
    [node] = memory.list(kind="document")
    memory.supersede(node.id, "The instrument was sold.", "sold")
    assert store.get(ANN, "k") is None, "somebody said that it holds no more"
    assert store.search(ANN) == [] and store.search(ANN, query="the instrument") == []
    store.delete(ANN, "k")
    assert "xylophone" not in everything(memory)


def test_a_text_that_a_person_has_edited_keeps_its_item(store: OrgmemStore, memory: Orgmem) -> None:
    store.put(ANN, "k", {"text": "The xylophone is in the attic."})
    [node] = memory.list(kind="document")
    memory.update(node.id, {"content": "The xylophone was sold."})
    found = store.get(ANN, "k")
    assert found is not None and found.value == {"text": "The xylophone is in the attic."}, "the value is the store's"
    assert [i.key for i in store.search(ANN, query="sold")] == ["k"]
    store.put(ANN, "k", {"text": "It is back."})
    assert [i.value for i in store.search(ANN)] == [{"text": "It is back."}]
    store.delete(ANN, "k")
    assert "xylophone" not in everything(memory) and store.search(ANN, query="sold") == []


@pytest.mark.parametrize("change", ["superseded", "edited", "emptied"])
@pytest.mark.parametrize("again", [{"text": "The codeword is zanzibar"}, {"text": "Something else"}])
def test_what_a_person_made_of_the_document_neither_hides_a_put_nor_survives_a_deletion(
    store: OrgmemStore, memory: Orgmem, change: str, again: dict[str, Any]
) -> None:
    def put_and_change() -> None:
        store.put(ANN, "k", {"text": "The codeword is zanzibar"})
        [node] = memory.list(status="live", kind="document")
        if change == "superseded":
            memory.supersede(node.id, "A person's own words", "better")
        elif change == "edited":
            memory.update(node.id, {"content": "A person's own words"})
        else:
            memory.update(node.id, {"metadata": {}})

    put_and_change()
    store.put(ANN, "k", again)
    found = store.get(ANN, "k")
    assert found is not None and found.value == again
    assert [i.value for i in store.search(ANN)] == [again]
    store.delete(ANN, "k")
    assert store.get(ANN, "k") is None and list(memory.list()) == []
    put_and_change()
    store.delete(ANN, "k")
    assert store.get(ANN, "k") is None and list(memory.list()) == []


def test_delete_of_what_is_not_there_is_nothing(store: OrgmemStore) -> None:
    store.delete(ANN, "never")
    store.put(ANN, "k", {"v": 1})
    store.delete(ANN, "k")
    store.delete(ANN, "k")
    assert store.get(ANN, "k") is None


def test_put_again_after_delete(store: OrgmemStore) -> None:
    for _ in range(3):
        store.put(ANN, "k", {"text": "back again"})
        assert [i.value for i in store.search(ANN, query="back")] == [{"text": "back again"}]
        store.delete(ANN, "k")
        assert store.search(ANN, query="back") == []


def test_search_ranks_by_meaning_and_brings_all(store: OrgmemStore) -> None:
    texts = {
        "food": "Ann is allergic to peanuts.",
        "work": "Ann is a nurse in a hospital.",
        "car": "Ann drives a red Volvo.",
        "plain": "No need to look here.",
    }
    for key, text in texts.items():
        store.put(ANN, key, {"text": text}, index=False if key == "plain" else None)
    found = store.search(("users",), query="what can she not eat?")
    assert found[0].key == "food" and found[0].score is not None
    assert [i.key for i in found][-1] == "plain" and found[-1].score is None, "what is not indexed comes last"
    assert {i.key for i in found} == set(texts)
    assert store.search(("users",), query="her profession", limit=1)[0].key == "work"
    pages = [i.key for offset in range(5) for i in store.search(ANN, query="vehicle", limit=1, offset=offset)]
    assert pages == [i.key for i in store.search(ANN, query="vehicle")]


def test_fields_say_what_an_item_is_found_by(memory: Orgmem) -> None:
    store = OrgmemStore(memory, fields=["about.text"])
    store.put(ANN, "default", {"about": {"text": "a lighthouse"}, "note": "pineapple"})
    store.put(ANN, "own", {"about": {"text": "a lighthouse"}, "tags": ["pineapple", "mango"]}, index=["tags[*]"])
    best = {q: store.search(ANN, query=q, limit=1)[0].key for q in ("lighthouse", "pineapple")}
    assert best == {"lighthouse": "default", "pineapple": "own"}


def test_filters_narrow_a_search_beyond_its_best_hits(store: OrgmemStore) -> None:
    """The service ranks at most a hundred passages; the filter goes along, so the one wanted is among them."""
    ops = [PutOp(ANN, f"k{i}", {"text": f"the weather of day {i}", "who": "bob"}) for i in range(110)]
    store.batch([*ops, PutOp(ANN, "hers", {"text": "what the sky was like", "who": "ann"})])
    [found] = store.search(ANN, query="the weather of day 7", filter={"who": "ann"})
    assert found.key == "hers" and found.score is not None
    [found] = store.search(ANN, query="weather", filter={"who": {"$eq": "ann"}, "text": {"$ne": "x"}})
    assert found.key == "hers"
    pages = [store.search(ANN, query="the weather of day 7", limit=40, offset=o) for o in (0, 40, 80, 120)]
    assert [len(p) for p in pages] == [40, 40, 31, 0]
    assert len({i.key for p in pages for i in p}) == 111, "every item once, ranked or not"
    assert pages[0][0].key == "k7"
    listed = [store.search(ANN, limit=40, offset=o) for o in (0, 40, 80, 120)]
    assert len({i.key for p in listed for i in p}) == 111


def test_a_comparison_with_what_is_no_number_does_not_hold(store: OrgmemStore) -> None:
    store.put(ANN, "a", {"n": 2})
    store.put(ANN, "b", {"n": "many"})
    store.put(ANN, "c", {})
    assert [i.key for i in store.search(ANN, filter={"n": {"$gt": 1}})] == ["a"]
    with pytest.raises(ValueError, match=r"\$regex.*Known are"):
        store.search(ANN, filter={"n": {"$regex": "x"}})


def test_a_second_process_sees_it_at_once(server: Any, key: str, memory: Orgmem) -> None:
    """Two stores with clients of their own, as two processes have."""
    subject = memory._core.requests.subject
    one, two = (OrgmemStore(api_key=key, base_url=server.url, subject=subject) for _ in range(2))
    for i in range(20):
        one.put(ANN, "k", {"i": i})
        found = two.get(ANN, "k")
        assert found is not None and found.value == {"i": i}
        two.delete(ANN, "k")
        assert one.get(ANN, "k") is None


def test_writers_of_one_key_leave_one_item(store: OrgmemStore, memory: Orgmem) -> None:
    failures: list[BaseException] = []

    def write(i: int) -> None:
        try:
            store.put(ANN, "k", {"writer": i, "text": f"writer {i}"})
        except BaseException as why:
            failures.append(why)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    [item] = store.search((), limit=100)
    found = store.get(ANN, "k")
    assert found is not None and found.value == item.value
    store.delete(ANN, "k")
    assert store.search(()) == [] and "writer" not in everything(memory)


async def test_a_hundred_at_once(amemory: AsyncOrgmem) -> None:
    store = OrgmemStore(async_client=amemory)
    await asyncio.gather(*(store.aput(ANN, f"k{i}", {"i": i}) for i in range(100)))
    found = await asyncio.gather(*(store.aget(ANN, f"k{i}") for i in range(100)))
    assert [f.value["i"] for f in found if f] == list(range(100))
    assert len(await store.asearch(ANN, limit=1000)) == 100


async def test_async_says_what_sync_says(memory: Orgmem, amemory: AsyncOrgmem) -> None:
    store = OrgmemStore(memory, amemory)
    await store.aput(ANN, "food", {"text": "Ann is allergic to peanuts."})
    assert store.get(ANN, "food") == await store.aget(ANN, "food")
    assert store.search((), query="nuts") == await store.asearch((), query="nuts")
    assert store.list_namespaces() == await store.alist_namespaces() == [ANN]
    await store.adelete(ANN, "food")
    assert await store.aget(ANN, "food") is None and store.get(ANN, "food") is None


async def test_one_client_is_enough(memory: Orgmem, amemory: AsyncOrgmem) -> None:
    with_sync = OrgmemStore(memory)
    await with_sync.aput(ANN, "k", {"v": 1})
    assert with_sync.get(ANN, "k") == await OrgmemStore(async_client=amemory).aget(ANN, "k")
    with pytest.raises(TypeError, match="await the async method"):
        OrgmemStore(async_client=amemory).get(ANN, "k")


def test_each_event_loop_has_connections_of_its_own(server: Any, key: str, memory: Orgmem) -> None:
    store = OrgmemStore(api_key=key, base_url=server.url, subject=memory._core.requests.subject)
    for i in range(3):
        asyncio.run(store.aput(ANN, "k", {"i": i}))
        found = asyncio.run(store.aget(ANN, "k"))
        assert found is not None and found.value == {"i": i}


def test_batch_reads_before_it_writes(store: OrgmemStore) -> None:
    store.put(ANN, "k", {"v": 0})
    results = store.batch(
        [
            PutOp(ANN, "k", {"v": 1}),
            GetOp(ANN, "k"),
            PutOp(ANN, "k", {"v": 2}),
            SearchOp(ANN),
            PutOp(ANN, "gone", {"v": 3}),
            PutOp(ANN, "gone", None),
            ListNamespacesOp(),
            PutOp(("new",), "k", {"v": 4}),
        ]
    )
    assert [results[i] for i in (0, 2, 4, 5, 7)] == [None] * 5
    assert results[1].value == {"v": 0} and [i.value for i in results[3]] == [{"v": 0}] and results[6] == [ANN]  # type: ignore[union-attr, index]
    assert store.get(ANN, "k").value == {"v": 2} and store.get(ANN, "gone") is None  # type: ignore[union-attr]
    assert store.list_namespaces() == [("new",), ANN]


def test_a_batch_with_a_bad_operation_does_nothing(store: OrgmemStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(ANN, "k", {"v": 1}), GetOp(("a.b",), "k")])
    assert store.search(()) == []


def test_ttl_is_refused_in_words(store: OrgmemStore) -> None:
    assert store.supports_ttl is False
    with pytest.raises(NotImplementedError, match="TTL is not supported by OrgmemStore"):
        store.put(ANN, "k", {"v": 1}, ttl=5)
    with pytest.raises(NotImplementedError, match="call delete"):
        store.batch([PutOp(ANN, "k", {"v": 1}, ttl=5)])
    store.put(ANN, "k", {"v": 1}, ttl=None)
    assert store.get(ANN, "k", refresh_ttl=True) is not None


def test_stores_of_other_names_and_other_content_are_apart(memory: Orgmem) -> None:
    memory.add("Ann likes tea.", wait=True)
    one, two = OrgmemStore(memory), OrgmemStore(memory, name="two")
    one.put(ANN, "k", {"text": "Ann likes tea."})
    two.put(("others",), "k", {"text": "Ann likes coffee."})
    assert one.get(("others",), "k") is None and two.list_namespaces() == [("others",)]
    assert [i.value["text"] for i in one.search((), query="what does Ann like?")] == ["Ann likes tea."]
    one.delete(ANN, "k")
    assert [h for h in memory.search("tea").results if h.chunk == "Ann likes tea."], "what others keep stays"


def test_what_a_store_keeps_is_found_by_the_memory(store: OrgmemStore, memory: Orgmem) -> None:
    store.put(ANN, "food", {"text": "Ann is allergic to peanuts."})
    [node] = memory.list(kind="document")
    assert node.title == "Ann is allergic to peanuts." and node.metadata["namespace"] == "users.ann"
    assert "peanuts" in memory.search("allergies").results[0].chunk


def test_a_store_that_cannot_be_made_says_why(memory: Orgmem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORGMEM_API_KEY", raising=False)
    with pytest.raises(Exception, match="ORGMEM_API_KEY"):
        OrgmemStore()
    with pytest.raises(ValueError, match="subject"):
        OrgmemStore(memory, subject="ann")
