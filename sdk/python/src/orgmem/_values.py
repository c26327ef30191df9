"""What all models share: their base, and the values that a field may have."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeAlias, TypeVar, Union

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

T = TypeVar("T")

# One of the values that are known, or one that a newer service has.
Open: TypeAlias = Union[T, str]  # noqa: UP007 (a generic alias needs Union)

# Any JSON value without the character U+0000.
Metadata: TypeAlias = dict[str, Any]

NodeKind = Literal["document", "entity", "belief", "preference", "event", "session"]
NodeStatus = Literal["live", "superseded", "tombstoned"]
EdgeOrigin = Literal["ingest", "asserted", "proposal", "supersede", "cognition"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
JobType = Literal[
    "ingest",
    "ingest_batch",
    "import",
    "transcript",
    "session_finalize",
    "cognition",
    "brain_train",
    "export",
    "subject_erase",
    "connector_sync",
    "quality",
]
ImportFormat = Literal[
    "text",
    "markdown",
    "json",
    "jsonl",
    "vtt",
    "srt",
    "lines",
    "html",
    "csv",
    "eml",
    "mbox",
    "zip",
    "tar",
    "docx",
    "pptx",
    "xlsx",
    "odt",
    "ods",
    "odp",
    "epub",
    "rtf",
    "ics",
    "pdf",
    "slack",
    "chatgpt",
    "claude",
    "mem0",
    "zep",
    "orgmem-export",
]
ExportStatus = Literal["queued", "running", "succeeded", "failed", "expired"]
ExportScope = Literal["user", "org"]
QuestionKind = Literal["words", "paraphrase", "title", "former"]
KeyStatus = Literal["active", "revoked"]
StaleReason = Literal["superseded", "forgotten", "ended", "contradicted"]
ProposalStatus = Literal["open", "accepted", "rejected"]
# Of a filter: a contradiction leaves the list when it is resolved.
ContradictionStatus = Literal["open", "resolved"]
ConnectorType = Literal["feed", "web", "git"]
QualityMode = Literal["fast", "balanced", "thorough"]
TrainingStatus = Literal["none", "queued", "running", "succeeded", "rejected", "failed"]
ItemStatus = Literal["created", "unchanged", "superseded", "revived", "failed"]
HistoryAction = Literal[
    "created", "updated", "superseded", "revived", "forgotten", "restored", "edge_asserted", "edge_forgotten"
]
HistoryField = Literal[
    "title",
    "content",
    "kind",
    "metadata",
    "domainId",
    "status",
    "supersededBy",
    "source",
    "type",
    "target",
    "weight",
    "confidence",
]
PurgeScope = Literal["subject", "org"]
Role = Literal["owner", "admin", "member"]
Scope = Literal["read", "write", "admin", "graph:write", "memory:forget", "subjects:provision", "usage:read"]
SearchMode = Literal["hybrid", "vector", "keyword"]
SearchScope = Literal["user", "org"]
SessionRole = Literal["user", "assistant", "tool", "system"]
EventType = Literal[
    "graph.updated",
    "job.completed",
    "insight.proposed",
    "contradiction.detected",
    "belief.superseded",
    "basin.shifted",
    "brain.trained",
    "webhook.test",
]
# An event's type as the stream tells it: those of webhooks, and some more.
StreamedType = Literal[EventType, "import.started", "import.finished", "identity.updated"]


class Model(BaseModel):
    """The base of all models."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)


class Page(Model, Generic[T]):
    """One page of a list."""

    data: list[T]
    has_more: bool = False
    next_cursor: str | None = None
