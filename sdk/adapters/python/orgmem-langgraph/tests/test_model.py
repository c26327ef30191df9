"""The same operations, chosen at random, on LangGraph's own store and on ours: the same answers.

InMemoryStore is the model. Where it says more than the interface promises, the model is
asked anew: an empty namespace that it still lists, the order of what is not ranked, and
when an item was made (it forgets that with each put). The seed is printed; to run one
again, set ORGMEM_MODEL_SEED.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, SearchItem, SearchOp
from langgraph.store.memory import InMemoryStore
from orgmem import AsyncOrgmem, Orgmem
from orgmem_langgraph import OrgmemStore

LABELS = ["users", "ann", "bob", "notes", "éa", "a b", "*x", "0"]
KEYS = ["k", "k", "K", "food", ""]
WORDS = ["peanuts", "Lisbon", "violin", "Tuesday", "budget", "Ann", "prefers", "tea", "never", "again"]
OPERATIONS = 250
SEEDS = [int(os.environ["ORGMEM_MODEL_SEED"])] if "ORGMEM_MODEL_SEED" in os.environ else [1, 2]

Key = tuple[tuple[str, ...], str]


class Chooser:
    """Operations from a small world, so that they meet."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def namespace(self, least: int = 1) -> tuple[str, ...]:
        return tuple(self.random.choice(LABELS[:2]) for _ in range(self.random.randint(least, 2)))

    def odd_namespace(self) -> tuple[str, ...]:
        return (*self.namespace(0), self.random.choice(LABELS))

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 6)))

    def value(self) -> dict[str, Any]:
        value: dict[str, Any] = {"n": self.random.choice([0, 1, 1.0, 2.5, True, -3])}
        if self.random.random() < 0.8:
            value["text"] = self.text()
        if self.random.random() < 0.5:
            value["color"] = self.random.choice(["red", "blue", None, ["red"], {"of": "red"}])
        if self.random.random() < 0.05:
            value["large"] = self.random.choice('x漢"') * 70_000
        return value

    def put(self) -> PutOp:
        namespace = self.odd_namespace() if self.random.random() < 0.2 else self.namespace()
        gone = self.random.random() < 0.25
        value = None if gone else self.value()
        index: Any = self.random.choice([None, None, None, False, ["text"]])
        if value and "large" in value:
            index = ["text"]  # to embed 70,000 characters takes seconds
        return PutOp(namespace, self.random.choice(KEYS), value, index=index)

    def get(self) -> GetOp:
        return GetOp(self.namespace(), self.random.choice(KEYS))

    def condition(self) -> Any:
        n = self.random.choice([0, 1, 2, 2.5])
        return self.random.choice(
            [
                {},
                {"n": n},
                {"n": {"$gt": n}},
                {"n": {"$lte": n, "$ne": 0}},
                {"color": "red"},
                {"color": {"$eq": "blue"}},
                {"color": {"$ne": "red"}},
                {"color": ["red"]},
                {"color": {"of": "red"}},
                {"color": None},
                {"absent": "x"},
            ]
        )

    def search(self) -> SearchOp:
        query = self.random.choice([None, None, self.text()])
        return SearchOp(self.namespace(0), self.condition(), limit=1000, query=query)

    def list_namespaces(self) -> ListNamespacesOp:
        conditions = []
        for kind in ("prefix", "suffix"):
            if self.random.random() < 0.5:
                path = tuple(self.random.choice([*LABELS[:4], "*"]) for _ in range(self.random.randint(1, 3)))
                conditions.append(MatchCondition(kind, path))  # type: ignore[arg-type]
        return ListNamespacesOp(
            tuple(conditions),
            self.random.choice([None, None, 1, 2]),
            self.random.choice([1, 3, 100]),
            self.random.choice([0, 0, 1, 4]),
        )

    def op(self) -> Op:
        return self.random.choices([self.put, self.get, self.search, self.list_namespaces], [8, 4, 3, 2])[0]()  # type: ignore[no-any-return]


class Model:
    """InMemoryStore, and what it holds."""

    def __init__(self) -> None:
        self.store = InMemoryStore()

    def run(self, ops: list[Op]) -> list[Any]:
        # Namespaces that hold nothing any more are not listed by ours, so the model is copied without them.
        fresh = InMemoryStore()
        for item in self.store.search((), limit=10**6):
            fresh.batch([PutOp(item.namespace, item.key, item.value)])
        self.store = fresh
        return [self._answer(op) for op in ops] if not any(isinstance(op, PutOp) for op in ops) else self._mixed(ops)

    def _mixed(self, ops: list[Op]) -> list[Any]:
        answers = [None if isinstance(op, PutOp) else self._answer(op) for op in ops]
        self.store.batch([op for op in ops if isinstance(op, PutOp)])
        return answers

    def _answer(self, op: Op) -> Any:
        if isinstance(op, GetOp):
            # Asking InMemoryStore would make the namespace.
            held = [i for i in self.store.search(op.namespace, limit=10**6) if (i.namespace, i.key) == op[:2]]
            return held[0] if held else None
        return self.store.batch([op])[0]


def plain(op: Op, answer: Any) -> Any:
    """An answer without its order, scores and times."""
    if isinstance(answer, Item):
        return (answer.namespace, answer.key, answer.value)
    if isinstance(op, SearchOp):
        return sorted(((i.namespace, i.key, repr(i.value)) for i in answer), key=repr)
    return answer


Runner = Callable[[list[Op]], list[Any]]


def check(seed: int, run: Runner, operations: int) -> Model:
    print(f"ORGMEM_MODEL_SEED={seed}")
    chooser, model = Chooser(seed), Model()
    done = 0
    while done < operations:
        ops = [chooser.op() for _ in range(chooser.random.choice([1, 1, 1, 2, 6]))]
        done += len(ops)
        wanted, got = model.run(ops), run(ops)
        for op, one, other in zip(ops, wanted, got, strict=True):
            assert plain(op, other) == plain(op, one), f"seed {seed}, after {done} operations: {op}"
    return model


def check_pages(model: Model, run: Runner) -> None:
    """Pages of any size are the whole, in one order, each item once."""
    for query in (None, "tea in Lisbon"):
        whole = run([SearchOp((), None, 1000, 0, query)])[0]
        assert sorted(repr(i.value) for i in whole) == sorted(repr(i.value) for i in model.store.search((), limit=1000))
        for size in (1, 3, 7):
            pages = [run([SearchOp((), None, size, at, query)])[0] for at in range(0, len(whole) + size, size)]
            assert [i for page in pages for i in page] == whole
        ranked = [i.score is not None for i in whole if isinstance(i, SearchItem)]
        assert ranked == sorted(ranked, reverse=True), "what has a score comes first"


@pytest.mark.parametrize("seed", SEEDS)
def test_random_operations(memory: Orgmem, seed: int) -> None:
    store = OrgmemStore(memory)
    check_pages(check(seed, store.batch, OPERATIONS), store.batch)
    for item in store.search((), limit=1000):
        store.delete(item.namespace, item.key)
    assert store.list_namespaces() == [] and list(memory.list()) == [], "nothing is left of any of it"


def test_random_operations_of_the_async_methods(server: Any, key: str, memory: Orgmem) -> None:
    loop = asyncio.new_event_loop()
    client = AsyncOrgmem(key, server.url)
    subject = memory._core.requests.subject
    assert subject is not None
    store = OrgmemStore(async_client=client.subject(subject))
    run: Runner = lambda ops: loop.run_until_complete(store.abatch(ops))  # noqa: E731
    check_pages(check(3, run, OPERATIONS), run)
    loop.run_until_complete(client.close())
    loop.close()
