"""The retriever: a search of a memory as LlamaIndex's nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from orgmem import AsyncOrgmem, Orgmem
from orgmem.adapters.clients import Call, Clients, Steps
from orgmem.models import Hit

MOST_QUERY = 10_000  # characters; the service takes no more

# What is for programs, and would be noise in a prompt and in an embedding.
NOT_FOR_MODELS = ["node_id", "external_id", "subject", "created_at", "stale"]


class OrgmemRetriever(BaseRetriever):
    """Finds passages of a memory by meaning and by word.

    A node's text is the passage, its id the passage's, its source the memory's node. Its metadata
    name that node (node_id), its title and time, the client's own id of the document (external_id),
    the subject whose memory it is from, and in stale what it rests on that no longer stands. A
    prompt shows the title of these.
    """

    def __init__(
        self,
        client: Orgmem | None = None,
        async_client: AsyncOrgmem | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        subject: str | None = None,
        similarity_top_k: int = 4,
        follow: bool = False,
        mode: Literal["hybrid", "vector", "keyword"] | None = None,
        scope: Literal["user", "org"] | None = None,
        filters: Mapping[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        """Without clients, makes its own of api_key and base_url (else ORGMEM_API_KEY and ORGMEM_BASE_URL).

        subject: the provisioned subject whose memory is searched; by default the key owner's.
        similarity_top_k: how many passages to answer at most, up to 100.
        follow: whether to follow the graph from what was found (POST /v1/retrieve); not with mode or filters.
        scope: "org" searches every memory of the organization.
        filters: such as {"kind": "document", "metadata": {"team": "red"}}.
        """
        if not 1 <= similarity_top_k <= 100:
            raise ValueError(f"similarity_top_k is {similarity_top_k}, and must be from 1 to 100.")
        if follow and (mode or filters):
            raise ValueError("follow takes neither mode nor filters: leave them out, or search without follow.")
        self._clients = Clients(client, async_client, api_key=api_key, base_url=base_url, subject=subject)
        self._top_k = similarity_top_k
        self._follow = follow
        self._mode = mode
        self._scope = scope
        self._filters = filters
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._clients.run(self._find(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._clients.arun(self._find(query_bundle))

    def _find(self, bundle: QueryBundle) -> Steps[list[NodeWithScore]]:
        query = bundle.query_str[:MOST_QUERY]
        if not query.strip():
            return []  # nothing is like nothing; the service would refuse it
        found = yield self._search(query)
        return [_node(hit) for hit in found.results]

    def _search(self, query: str) -> Call:
        if self._follow:
            return lambda c: c.retrieve(query, top_k=self._top_k, scope=self._scope)
        return lambda c: c.search(query, top_k=self._top_k, mode=self._mode, scope=self._scope, filters=self._filters)


def _node(hit: Hit) -> NodeWithScore:
    metadata: dict[str, Any] = {
        "title": hit.title,
        "node_id": hit.node_id,
        "external_id": hit.external_id,
        "subject": hit.subject,
        "created_at": hit.created_at.isoformat(),
    }
    if hit.stale:
        metadata["stale"] = [s.model_dump(mode="json") for s in hit.stale]
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.chunk,
        metadata=metadata,
        excluded_llm_metadata_keys=NOT_FOR_MODELS,
        excluded_embed_metadata_keys=NOT_FOR_MODELS,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.node_id)},
    )
    return NodeWithScore(node=node, score=hit.score)
