"""The verbs of a client itself, each described once for the sync and the async one.

Names, requests and answers are those of docs/interface.md. tests/test_contract.py
fails when the interface has a route, a parameter or a field that no verb takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from orgmem import models as m
from orgmem._calls import (
    Call,
    Caller,
    Core,
    Kind,
    Steps,
    do,
    given,
    json_of,
    key_of,
    listing,
    nothing,
    plain,
    read,
    segment,
    verb,
    when,
)
from orgmem._describe import MOST_LOOKS, NODES, SEARCH_RESULT, Time, delete, get, node_of, post, written_answer
from orgmem._groups import (
    Brain,
    Condition,
    Connectors,
    Contradictions,
    Domains,
    Edges,
    Exports,
    Imports,
    Jobs,
    Keys,
    Proposals,
    Purge,
    Quality,
    Recall,
    Sandbox,
    Sessions,
    SettingsVerbs,
    Subjects,
    Webhooks,
)
from orgmem.errors import NotFound


class Verbs(Caller[Kind]):
    """What a client can do."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.edges: Edges[Kind] = Edges(core)
        self.domains: Domains[Kind] = Domains(core)
        self.recall: Recall[Kind] = Recall(core)
        self.contradictions: Contradictions[Kind] = Contradictions(core)
        self.proposals: Proposals[Kind] = Proposals(core)
        self.condition: Condition[Kind] = Condition(core)
        self.subjects: Subjects[Kind] = Subjects(core)
        self.keys: Keys[Kind] = Keys(core)
        self.sandbox: Sandbox[Kind] = Sandbox(core)
        self.jobs: Jobs[Kind] = Jobs(core)
        self.imports: Imports[Kind] = Imports(core)
        self.exports: Exports[Kind] = Exports(core)
        self.purge: Purge[Kind] = Purge(core)
        self.webhooks: Webhooks[Kind] = Webhooks(core)
        self.sessions: Sessions[Kind] = Sessions(core)
        self.brain: Brain[Kind] = Brain(core)
        self.quality: Quality[Kind] = Quality(core)
        self.connectors: Connectors[Kind] = Connectors(core)
        self.settings: SettingsVerbs[Kind] = SettingsVerbs(core)

    @verb
    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        mode: m.SearchMode | None = None,
        scope: m.SearchScope | None = None,
        filters: m.SearchFilters | Mapping[str, Any] | None = None,
        include_superseded: bool | None = None,
        explain: bool | None = None,
    ) -> Call[m.SearchResult]:
        """Passages that fit a query, by meaning and by word, best first."""
        body: dict[str, Any] = {"query": query}
        if top_k is not None:
            body["topK"] = top_k
        if mode is not None:
            body["mode"] = mode
        if scope is not None:
            body["scope"] = scope
        if filters is not None:
            body["filters"] = plain(filters, m.SearchFilters)
        if include_superseded is not None:
            body["includeSuperseded"] = include_superseded
        if explain is not None:
            body["explain"] = explain
        return Call("POST", "/v1/search", SEARCH_RESULT, body=json_of(body), repeatable=True)

    @verb
    def retrieve(
        self,
        query: str,
        *,
        top_k: int | None = None,
        max_hops: int | None = None,
        scope: m.SearchScope | None = None,
    ) -> Call[m.Retrieved]:
        """Like search, following the graph: with the paths to each hit, and contradictions."""
        body = given(query=query, topK=top_k, maxHops=max_hops, scope=scope)
        return post("/v1/retrieve", read(m.Retrieved), body, repeatable=True)

    @verb
    def answer(self, query: str, *, max_words: int | None = None) -> Call[m.WrittenAnswer]:
        """An answer with its citations; the same as brain.answer."""
        return written_answer(query, max_words)

    @verb
    def get(self, id: str) -> Call[m.Node]:
        """One node, with its content and etag."""
        return get(f"/v1/graph/nodes/{segment(id)}", node_of)

    @verb
    def find(self, external_id: str) -> Steps[m.Node | None]:
        """The node that an external id means now, with its content; None if it means no node."""
        for _ in range(MOST_LOOKS):
            page = yield from do(get("/v1/graph/nodes", NODES, externalId=external_id))
            if not page.data:
                return None
            try:
                return (yield from do(get(f"/v1/graph/nodes/{segment(page.data[0].id)}", node_of)))
            except NotFound as why:
                if why.code != "node_not_found":
                    raise
            # It was forgotten in between, and the id may mean another one by now.
        return None

    @verb
    def update(self, id: str, patch: m.NodePatch | Mapping[str, Any], *, if_match: str | None = None) -> Call[m.Node]:
        """Edits a node; with if_match (a node's etag) only if it is still the same. It is found when this returns."""
        return Call(
            "PATCH",
            f"/v1/graph/nodes/{segment(id)}",
            node_of,
            body=json_of(plain(patch, m.NodePatch)),
            headers=None if if_match is None else {"If-Match": if_match},
        )

    @verb
    def delete(self, id: str) -> Call[m.Node]:
        """Forgets a node: its content is gone for good, its place can be restored for 30 days."""
        return delete(f"/v1/graph/nodes/{segment(id)}", node_of)

    @listing
    def list(
        self,
        *,
        q: str | None = None,
        kind: m.NodeKind | str | None = None,
        status: m.NodeStatus | str | None = None,
        ids: Sequence[str] | None = None,
        external_id: str | None = None,
        domain_id: str | None = None,
        created_after: Time | None = None,
        created_before: Time | None = None,
        as_of: Time | None = None,
        page_size: int | None = None,
    ) -> Call[m.Page[m.Node]]:
        """The nodes, newest first, without their content; with ids, at most 50, these on one page in their order."""
        return get(
            "/v1/graph/nodes",
            NODES,
            q=q,
            kind=kind,
            status=status,
            ids=None if ids is None else ",".join(ids),
            externalId=external_id,
            domainId=domain_id,
            createdAfter=when(created_after),
            createdBefore=when(created_before),
            asOf=when(as_of),
            pageSize=page_size,
        )

    @listing
    def history(self, id: str, *, page_size: int | None = None) -> Call[m.Page[m.HistoryEntry]]:
        """Every change of a node, newest first."""
        return get(f"/v1/graph/nodes/{segment(id)}/history", read(m.Page[m.HistoryEntry]), pageSize=page_size)

    @verb
    def undelete(self, id: str, *, idempotency_key: str | None = None) -> Call[m.Node]:
        """Restores the place of a forgotten node, not its content."""
        return post(f"/v1/graph/nodes/{segment(id)}/undelete", node_of, key=key_of(idempotency_key))

    @verb
    def supersede(
        self, id: str, content: str, reason: str, *, idempotency_key: str | None = None
    ) -> Call[m.Superseded]:
        """Puts new content in a node's place, and says why; the old one stays readable."""
        return post(
            f"/v1/graph/nodes/{segment(id)}/supersede",
            read(m.Superseded),
            {"content": content, "reason": reason},
            key=key_of(idempotency_key),
        )

    @verb
    def elsewhere(self, id: str) -> Call[m.Elsewhere]:
        """Where else in the organization an entity is named."""
        return get(f"/v1/graph/nodes/{segment(id)}/elsewhere", read(m.Elsewhere))

    @verb
    def signals(self, session_id: str, signals: Iterable[m.AgentSignal | Mapping[str, Any]]) -> Call[m.SignalsAccepted]:
        """Stores what went wrong, or well, in an agent's session."""
        body = {"sessionId": session_id, "signals": [plain(s, m.AgentSignal) for s in signals]}
        return post("/v1/ingest/agent-signals", read(m.SignalsAccepted), body)

    @verb
    def usage(
        self,
        *,
        start_time: Time | None = None,
        end_time: Time | None = None,
        group_by: Literal["subject", "capability", "key"] | None = None,
    ) -> Call[m.UsageReport]:
        """What was used, in buckets of hours or days."""
        return get(
            "/v1/usage", read(m.UsageReport), startTime=when(start_time), endTime=when(end_time), groupBy=group_by
        )

    @listing
    def audit(
        self,
        *,
        action: str | None = None,
        actor: str | None = None,
        target: str | None = None,
        created_after: Time | None = None,
        created_before: Time | None = None,
        page_size: int | None = None,
    ) -> Call[m.Page[m.AuditEntry]]:
        """Who did what."""
        return get(
            "/v1/audit",
            read(m.Page[m.AuditEntry]),
            action=action,
            actor=actor,
            target=target,
            createdAfter=when(created_after),
            createdBefore=when(created_before),
            pageSize=page_size,
        )

    @verb
    def identity(self, user_id: str) -> Call[m.UserIdentity]:
        """Another member's identity."""
        return get(f"/v1/identity/user/{segment(user_id)}", read(m.UserIdentity))

    @verb
    def me(self) -> Call[m.Principal]:
        """Whose key this is, and what it may do."""
        return get("/v1/me", read(m.Principal))

    @verb
    def delete_me(self) -> Call[None]:
        """Deletes the account; of a personal organization all there is."""
        return delete("/v1/me", nothing)

    @verb
    def team(self) -> Call[m.Team]:
        """The organization."""
        return get("/v1/team", read(m.Team))

    @listing
    def members(self, *, page_size: int | None = None) -> Call[m.Page[m.TeamMember]]:
        """Its people."""
        return get("/v1/team/members", read(m.Page[m.TeamMember]), pageSize=page_size)

    @listing
    def member_keys(
        self, *, ids: Sequence[str] | None = None, page_size: int | None = None
    ) -> Call[m.Page[m.TeamKey]]:
        """The keys of all members, for an admin; with ids, at most 50, these on one page in their order."""
        return get(
            "/v1/team/keys",
            read(m.Page[m.TeamKey]),
            ids=None if ids is None else ",".join(ids),
            pageSize=page_size,
        )
