"""The retriever: a search of a memory as LangChain's documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from orgmem import AsyncOrgmem, Orgmem
from orgmem.adapters.clients import Call, Clients, Steps
from orgmem.models import Hit
from pydantic import Field, PrivateAttr, SecretStr, model_validator

MOST_QUERY = 10_000  # characters; the service takes no more


class OrgmemRetriever(BaseRetriever):
    """Finds passages of a memory by meaning and by word.

    A document's page_content is the passage, its id the passage's. Its metadata name the node
    (node_id), its title, score and time, the client's own id of the document (external_id), the
    subject whose memory it is from, and in stale what it rests on that no longer stands.

    Without clients it makes its own of api_key and base_url, else of ORGMEM_API_KEY and
    ORGMEM_BASE_URL.
    """

    client: Orgmem | None = Field(default=None, exclude=True)
    async_client: AsyncOrgmem | None = Field(default=None, exclude=True)
    api_key: SecretStr | None = Field(default=None, exclude=True)
    base_url: str | None = None
    subject: str | None = None
    """The provisioned subject whose memory is searched; by default the key owner's."""

    k: int = Field(default=4, ge=1, le=100)
    """How many passages to answer at most."""
    follow: bool = False
    """Whether to follow the graph from what was found (POST /v1/retrieve). mode and filters are not for that."""
    mode: Literal["hybrid", "vector", "keyword"] | None = None
    scope: Literal["user", "org"] | None = None
    """org searches every memory of the organization."""
    filters: Mapping[str, Any] | None = None
    """Such as {"kind": "document", "metadata": {"team": "red"}}."""

    _clients: Clients = PrivateAttr()

    @model_validator(mode="after")
    def _connect(self) -> OrgmemRetriever:
        if self.follow and (self.mode or self.filters):
            raise ValueError("follow takes neither mode nor filters: leave them out, or search without follow.")
        self._clients = Clients(
            self.client,
            self.async_client,
            api_key=self.api_key.get_secret_value() if self.api_key else None,
            base_url=self.base_url,
            subject=self.subject,
        )
        return self

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return self._clients.run(self._find(query, **options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        return await self._clients.arun(self._find(query, **options))

    def _find(
        self, query: str, *, k: int | None = None, filters: Mapping[str, Any] | None = None
    ) -> Steps[list[Document]]:
        text = query[:MOST_QUERY]
        if not text.strip():
            return []  # nothing is like nothing; the service would refuse it
        found = yield self._search(text, self.k if k is None else k, self.filters if filters is None else filters)
        return [_document(hit) for hit in found.results]

    def _search(self, query: str, k: int, filters: Mapping[str, Any] | None) -> Call:
        if self.follow:
            if filters:
                raise ValueError("follow takes no filters: leave them out, or search without follow.")
            return lambda c: c.retrieve(query, top_k=k, scope=self.scope)
        return lambda c: c.search(query, top_k=k, mode=self.mode, scope=self.scope, filters=filters)


def _document(hit: Hit) -> Document:
    metadata = {
        "node_id": hit.node_id,
        "title": hit.title,
        "score": hit.score,
        "external_id": hit.external_id,
        "subject": hit.subject,
        "created_at": hit.created_at.isoformat(),
    }
    if hit.stale:
        metadata["stale"] = [s.model_dump(mode="json") for s in hit.stale]
    return Document(page_content=hit.chunk, id=hit.chunk_id, metadata=metadata)
