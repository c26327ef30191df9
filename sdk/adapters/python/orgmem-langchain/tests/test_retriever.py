"""The retriever against a real server, with LangChain's standard tests and our own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from orgmem import AsyncOrgmem, Orgmem
from orgmem_langchain import OrgmemRetriever

TEXTS = {
    "boiler": "Mrs Okafor serviced the boiler in May.",
    "cat": "The cat has to see a vet on Friday.",
    "rent": "The rent is due on the first of each month.",
    "car": "The car failed its inspection because of the brakes.",
    "bike": "Tom's bicycle was stolen from the cellar.",
}


@pytest.fixture
def filled(memory: Orgmem) -> Orgmem:
    memory.add(
        [{"content": text, "externalId": id, "metadata": {"about": id}} for id, text in TEXTS.items()], wait=True
    )
    return memory


class TestStandard(RetrieversIntegrationTests):
    """What LangChain asks of every retriever."""

    @pytest.fixture(autouse=True)
    def _memory(self, filled: Orgmem, amemory: AsyncOrgmem) -> Iterator[None]:
        self.clients = {"client": filled, "async_client": amemory}
        yield

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return OrgmemRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return dict(self.clients)

    @property
    def retriever_query_example(self) -> str:
        return "who looked after the heating?"


def test_a_document_says_where_it_is_from(filled: Orgmem) -> None:
    best = OrgmemRetriever(client=filled).invoke("who looked after the heating?")[0]
    [node] = [n for n in filled.list(kind="document") if n.source.external_id == "boiler"]
    assert best.page_content == TEXTS["boiler"]
    assert best.metadata["node_id"] == node.id and best.metadata["external_id"] == "boiler"
    assert best.id and best.metadata["score"] > 0 and "stale" not in best.metadata


async def test_async_finds_the_same(filled: Orgmem, amemory: AsyncOrgmem) -> None:
    retriever = OrgmemRetriever(client=filled, async_client=amemory)
    assert await retriever.ainvoke("vet") == retriever.invoke("vet")
    assert await OrgmemRetriever(client=filled).ainvoke("vet") == retriever.invoke("vet")


@pytest.mark.parametrize("options", [{}, {"mode": "vector"}, {"mode": "keyword"}, {"follow": True}, {"scope": "user"}])
def test_each_way_of_searching_finds(filled: Orgmem, options: dict[str, Any]) -> None:
    found = OrgmemRetriever(client=filled, **options).invoke("the stolen bicycle")
    assert found[0].metadata["external_id"] == "bike"


def test_filters_narrow(filled: Orgmem) -> None:
    retriever = OrgmemRetriever(client=filled, filters={"metadata": {"about": "rent"}})
    assert [d.metadata["external_id"] for d in retriever.invoke("boiler")] == ["rent"]
    [found] = retriever.invoke("boiler", filters={"metadata": {"about": "car"}})
    assert found.metadata["external_id"] == "car"


def test_a_query_of_nothing_finds_nothing(filled: Orgmem) -> None:
    assert OrgmemRetriever(client=filled).invoke("  \n") == []
    assert OrgmemRetriever(client=filled).invoke("bicycle " * 5000)[0].metadata["external_id"] == "bike"


def test_what_is_built_on_something_gone_is_marked_stale(memory: Orgmem) -> None:
    memory.add("The office opens at nine.", external_id="hours", wait=True)
    memory.add("Deliveries can come from nine on.", derived_from=["hours"], wait=True)
    [ground] = [n for n in memory.list(kind="document") if n.source.external_id == "hours"]
    memory.delete(ground.id)
    [found] = OrgmemRetriever(client=memory).invoke("deliveries")
    assert found.metadata["stale"][0]["reason"] == "forgotten"


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 101}, {"follow": True, "mode": "vector"}, {"mode": "psychic"}])
def test_options_that_cannot_work_are_refused(memory: Orgmem, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        OrgmemRetriever(client=memory, **options)


def test_the_key_is_not_shown(server: Any, key: str) -> None:
    retriever = OrgmemRetriever(api_key=key, base_url=server.url)
    assert key not in repr(retriever) + str(retriever) + retriever.model_dump_json()
    assert retriever.invoke("anything at all") == []
