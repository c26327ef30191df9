"""What requests hold, as models."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from orgmem._values import Metadata, Model, NodeKind, Open, SessionRole


class IngestItem(Model):
    """A text to keep."""

    content: str
    # The client's own id: new content under a known one takes the old content's place.
    external_id: str | None = None
    title: str | None = None
    kind: Literal["document", "belief", "preference", "event"] | None = None
    occurred_at: AwareDatetime | None = None
    metadata: Metadata | None = None
    # What it rests on: ids of nodes, or external ids of documents, of the same memory.
    derived_from: list[str] | None = None


class SearchFilters(Model):
    """All conditions must hold."""

    as_of: AwareDatetime | None = None
    created_after: AwareDatetime | None = None
    created_before: AwareDatetime | None = None
    domain_id: str | None = None
    kind: Open[NodeKind] | None = None
    metadata: dict[str, str | int | float | bool] | None = None


class NodePatch(Model):
    """What is to change of a node; at least one field beside the reason."""

    title: str | None = None
    content: str | None = None
    kind: Open[NodeKind] | None = None
    metadata: Metadata | None = None
    domain_id: str | None = None  # None, when it is set, takes the node out of its domain.
    reason: str | None = None


class SessionEvent(Model):
    """One turn of a coding session."""

    session_id: str
    role: SessionRole
    text: str
    event_id: str | None = None
    at: AwareDatetime | None = None
    cwd: str | None = None
    model: str | None = None
    tool: str | None = None
    metadata: Metadata | None = None


class AgentSignal(Model):
    """What went wrong, or well, in an agent's work."""

    type: str  # Such as tool_failure, loop, user_correction, test_failure or abandoned.
    at: AwareDatetime | None = None
    detail: str | None = None
    severity: str | None = None


class FeedConfig(Model):
    url: str
    authorization: str | None = None


class GitConfig(Model):
    url: str
    branch: str | None = None
    path: str | None = None
    token: str | None = None


class WebConfig(Model):
    sitemap: str | None = None
    pages: list[str] | None = None
    authorization: str | None = None
