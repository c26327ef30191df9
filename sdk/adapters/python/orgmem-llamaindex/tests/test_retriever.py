"""The retriever against a real server, and in a query engine."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import QueryBundle
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from orgmem import AsyncOrgmem, Orgmem
from orgmem_llamaindex import OrgmemRetriever

TEXTS = {
    "boiler": "Mrs Okafor serviced the boiler in May.",
    "cat": "The cat has to see a vet on Friday.",
    "rent": "The rent is due on the first of each month.",
    "bike": "Tom's bicycle was stolen from the cellar.",
}


@pytest.fixture
def filled(memory: Orgmem) -> Orgmem:
    memory.add(
        [{"content": text, "externalId": id, "metadata": {"about": id}} for id, text in TEXTS.items()], wait=True
    )
    return memory


def test_a_node_says_where_it_is_from(filled: Orgmem) -> None:
    retriever = OrgmemRetriever(filled)
    assert isinstance(retriever, BaseRetriever)
    found = retriever.retrieve("who looked after the heating?")
    best = found[0]
    [kept] = [n for n in filled.list(kind="document") if n.source.external_id == "boiler"]
    assert best.text == TEXTS["boiler"] and best.score is not None and best.score > 0
    assert best.node.source_node is not None and best.node.source_node.node_id == kept.id
    assert best.metadata["node_id"] == kept.id and best.metadata["external_id"] == "boiler"
    assert kept.id not in best.node.get_content(MetadataMode.LLM), "a prompt is not filled with ids"
    assert [n.score for n in found] == sorted((n.score or 0 for n in found), reverse=True)
    assert len({n.node.node_id for n in found}) == len(found)


async def test_async_finds_the_same(filled: Orgmem, amemory: AsyncOrgmem) -> None:
    retriever = OrgmemRetriever(filled, amemory)
    assert await retriever.aretrieve("vet") == retriever.retrieve("vet")
    assert await OrgmemRetriever(filled).aretrieve("vet") == retriever.retrieve("vet")


@pytest.mark.parametrize("options", [{}, {"mode": "vector"}, {"mode": "keyword"}, {"follow": True}, {"scope": "user"}])
def test_each_way_of_searching_finds(filled: Orgmem, options: dict[str, Any]) -> None:
    found = OrgmemRetriever(filled, similarity_top_k=2, **options).retrieve(QueryBundle("the stolen bicycle"))
    assert found[0].metadata["external_id"] == "bike" and len(found) <= 2


def test_filters_narrow(filled: Orgmem) -> None:
    found = OrgmemRetriever(filled, filters={"metadata": {"about": "rent"}}).retrieve("boiler")
    assert [n.metadata["external_id"] for n in found] == ["rent"]


def test_a_query_engine_answers_from_it(filled: Orgmem) -> None:
    """MockLLM answers with its prompt, so the answer shows what the engine was given."""
    engine = RetrieverQueryEngine.from_args(OrgmemRetriever(filled, similarity_top_k=1), llm=MockLLM())
    answer = engine.query("who looked after the heating?")
    assert TEXTS["boiler"] in str(answer) and TEXTS["rent"] not in str(answer)
    assert [n.metadata["external_id"] for n in answer.source_nodes] == ["boiler"]


def test_a_query_of_nothing_finds_nothing(filled: Orgmem) -> None:
    assert OrgmemRetriever(filled).retrieve("  \n") == []
    assert OrgmemRetriever(filled).retrieve("bicycle " * 5000)[0].metadata["external_id"] == "bike"


@pytest.mark.parametrize(
    "options", [{"similarity_top_k": 0}, {"similarity_top_k": 101}, {"follow": True, "mode": "vector"}]
)
def test_options_that_cannot_work_are_refused(memory: Orgmem, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        OrgmemRetriever(memory, **options)
