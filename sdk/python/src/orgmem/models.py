"""What the service answers, and what it is given, as pydantic models.

Attributes are in snake_case; the JSON has camelCase. A field that a model does not
know is kept, so that an older client works with a newer service. tests/test_contract.py
fails when docs/openapi.json has a field or a value that is missing here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from orgmem._requests import (
    AgentSignal as AgentSignal,
    FeedConfig as FeedConfig,
    GitConfig as GitConfig,
    IngestItem as IngestItem,
    NodePatch as NodePatch,
    SearchFilters as SearchFilters,
    SessionEvent as SessionEvent,
    WebConfig as WebConfig,
)
from orgmem._values import (
    ConnectorType as ConnectorType,
    ContradictionStatus as ContradictionStatus,
    EdgeOrigin as EdgeOrigin,
    EventType as EventType,
    ExportScope as ExportScope,
    ExportStatus as ExportStatus,
    HistoryAction as HistoryAction,
    HistoryField as HistoryField,
    ImportFormat as ImportFormat,
    ItemStatus as ItemStatus,
    JobStatus as JobStatus,
    JobType as JobType,
    KeyStatus as KeyStatus,
    Metadata as Metadata,
    Model as Model,
    NodeKind as NodeKind,
    NodeStatus as NodeStatus,
    Open as Open,
    Page as Page,
    ProposalStatus as ProposalStatus,
    PurgeScope as PurgeScope,
    QualityMode as QualityMode,
    QuestionKind as QuestionKind,
    Role as Role,
    Scope as Scope,
    SearchMode as SearchMode,
    SearchScope as SearchScope,
    SessionRole as SessionRole,
    StaleReason as StaleReason,
    StreamedType as StreamedType,
    TrainingStatus as TrainingStatus,
    Weekday as Weekday,
)


class Accepted(Model):
    job_id: str
    status: Open[Literal["pending"]]


class ActivatedEntity(Model):
    activation: float
    node_id: str
    title: str


class ApiKey(Model):
    id: str  # The SHA-256 of the key, in hexadecimal; it cannot authenticate.
    created_at: datetime
    label: str
    last_used_at: datetime | None  # To the minute; null if the key was never used.
    revoked_at: datetime | None  # Null while the key is active.
    scopes: list[str]  # What the key may do; of the sandbox always read and write.
    status: Open[KeyStatus]


class TeamKey(ApiKey):
    user_id: str


class KeyList(Model):
    keys: list[ApiKey]


class AuditEntryActor(Model):
    key_id: str | None
    # operator: through the operator interface. service: by itself.
    type: Open[Literal["key", "operator", "service"]]
    user_id: str | None


class AuditEntry(Model):
    id: str  # Larger of a later act; unique in the organization.
    action: str  # What was done, such as node.forget; more may come.
    actor: AuditEntryActor
    at: datetime
    # The memory that it was done for, as in the ids of its nodes; it stays when a subject is erased. Null where
    # it was done for none.
    partition_id: str | None
    request_id: str | None  # Null where no request did it.
    # The provisioned subject it was done for, while it is provisioned; null for a person's own memory, and once
    # the subject was erased.
    subject: str | None
    # The id of what it was done to; null where that is the organization or the memory itself, or has an id of the
    # client's making. A subject that was erased is named by its partitionId.
    target: str | None


class Basin(Model):
    id: str
    current: bool  # The person is in it: by the latest signals.
    keywords: list[str]
    label: str
    node_ids: list[str]  # The evidence.
    share: float  # Of the signals.
    # The time of the text by which the person came there; null in a basin where they are not.
    since: datetime | None


class BrainArtifact(Model):
    edges: int
    metrics: dict[str, float]
    nodes: int
    parameters: int
    sha256: str
    trained_at: datetime
    version: int


class Stale(Model):
    because: str  # The id of the node.
    # superseded: another node took its place. forgotten: it was. ended: nothing states it any more. contradicted:
    # an open contradiction is about it.
    reason: Open[StaleReason]
    since: datetime | None  # Null where that is no longer known.


class CosineHit(Model):
    external_id: str | None
    node_id: str
    score: float
    title: str
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class FocalHit(Model):
    activation: float
    external_id: str | None
    node_id: str
    score: float
    title: str
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class Usage(Model):
    embed_tokens: int
    read_units: int
    brain_version: int | None = None  # The brain that ranked the results; absent where none did.


class BrainFound(Model):
    activated_entities: list[ActivatedEntity]
    artifact_version: int
    cosine_top_k: list[CosineHit]  # What likeness of meaning alone finds.
    drift_rate: float  # How far the graph has moved since the training.
    focal_nodes: list[FocalHit]  # The nodes that hold text, best first.
    gate_confidence: float
    # How far the walk went for what it found: none, nothing is owed to it; local, one hop; regional, two; global,
    # further.
    propagation_tier: Open[Literal["none", "local", "regional", "global"]]
    usage: Usage


class Training(Model):
    finished_at: datetime | None
    job_id: str | None
    metrics: dict[str, float]
    progress: float
    reason: str | None  # Why it was rejected or failed.
    started_at: datetime | None
    # rejected: by the parity gate. failed: nothing was trained, because there was too little to learn from, or
    # the work failed, or it was cancelled. Either way the brain before it goes on serving.
    status: Open[TrainingStatus]


class BrainInfo(Model):
    # The brain that serves; null where none does: none was trained, or it cannot be read and is to be trained
    # again.
    artifact: BrainArtifact | None
    training: Training  # The latest training.


class BrainMarks(Model):
    mrr: float
    recall10: float


class BrainDuel(Model):
    lost: int
    won: int


class BrainAnswered(Model):
    against_cosine: BrainDuel
    against_search: BrainDuel
    brain: BrainMarks
    cosine: BrainMarks
    questions: int
    search: BrainMarks


class BrainPoint(Model):
    best: bool
    checked: float  # Mean loss of the questions that say when to stop, in nats.
    move: int
    stage: Open[Literal["part", "all", "further"]]
    learned: float | None = None  # Mean loss of the questions that are learned from; None: not evaluated here.


class BrainGateBand(Model):
    from_: float = Field(alias="from")
    judged: BrainAnswered
    mean: float
    open: BrainMarks  # The brain, were its gate wide open.
    opened: BrainDuel
    to: float


class BrainGateBins(Model):
    bins: list[BrainGateBand]
    shut: float


class BrainKind(Model):
    judged: BrainAnswered
    kind: Open[Literal["sentence", "title", "two_hops", "three_hops", "comparison", "former", "accepted"]]


class BrainLength(Model):
    from_: int = Field(alias="from")
    judged: BrainAnswered
    to: int | None  # No bound where it is None.


class BrainReport(Model):
    curve: list[BrainPoint]
    gate: BrainGateBins
    kinds: list[BrainKind]
    lengths: list[BrainLength]


class BrainTraining(Model):
    latest: BrainReport | None  # Of the latest training, where that does not serve.
    report: BrainReport | None  # Of the brain that serves; None where an earlier version of the service trained it.
    status: Open[TrainingStatus]
    version: int | None


class GateSign(Model):
    pull: float  # By how many nats that opens the gate.
    seen: float
    sign: Open[Literal["always", "best", "margin", "agreement", "names", "density", "subjects", "cover"]]


class GateExplanation(Model):
    gate: float
    propagation_tier: Open[Literal["none", "local", "regional", "global"]]
    shut: float
    signs: list[GateSign]


class SearchExplanation(Model):
    nodes: int
    passages: int
    brain: GateExplanation | None = None


class ScoreParts(Model):
    brevity: float
    meaning: float
    neighbours: float
    phrases: float
    reading: float
    time: float
    words: float


class BrainChange(Model):
    change: float
    known: bool
    meaning: float
    near: float
    rank: int
    total: float
    walk: float
    words: float


class HitExplanation(Model):
    parts: ScoreParts
    total: float
    brain: BrainChange | None = None
    duplicate_of: str | None = None
    meaning_rank: int | None = None
    rank: int | None = None
    words_rank: int | None = None


class Cadence(Model):
    every_days: float  # The median time between two days of writing.
    regularity: float  # 0 is any gap, 1 always the same.
    times: int  # How many were counted.


class CitedSpan(Model):
    end: int
    start: int


class Citation(Model):
    chunk: str
    node_id: str
    score: float
    subject: str | None  # The provisioned subject whose memory it is in; null for a person's own.
    # What of the chunk the answer rests on, in characters (Unicode code points), end exclusive. Absent: all of
    # it.
    span: CitedSpan | None = None
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class ConditioningPack(Model):
    expires_at: datetime  # How long the pack may be kept.
    # What the latest texts are about, newest first, from the effective subject's own memory: titles, once for
    # each thread, and of texts without one a sentence that tells something, with who wrote it. Latest is by when
    # the text's content happened (occurredAt), else by when it came in.
    org_recent_context: list[str]
    system_prompt: str
    # Absent until there is enough writing, and where several people write the memory.
    user_voice_hint: str | None = None


class Connector(Model):
    id: str
    config: dict[str, Any]  # Without its secrets.
    created_at: datetime
    documents: int
    enabled: bool
    interval_seconds: int
    last_error: str | None
    last_status: str | None
    last_sync_at: datetime | None
    name: str
    type: Open[ConnectorType]


class Passage(Model):
    node_id: str
    text: str


class Contradiction(Model):
    id: str
    detected_at: datetime
    explanation: str
    kind: Open[Literal["negation", "value", "temporal", "antonym", "semantic"]]
    node_a: str
    node_b: str
    passages: list[Passage]  # The texts that hold the claims: nodeA's, then nodeB's.
    severity: float
    status: Open[Literal["open"]]


class Dated(Model):
    id: str
    # When it begins. Of what is named by its end alone, that end; and what a week or month is still to bring,
    # while it runs, is shown on the day of writing.
    at: datetime
    kind: str
    node_id: str
    title: str
    # Where the text names one end only: latest, it is then or before; earliest, from then on.
    bound: Open[Literal["latest", "earliest"]] | None = None
    # How exactly the text names the time: minute, day (also of several), week, month, quarter, year, decade or
    # century. What is of a week happens between at and until, on no day that is known. Absent where an end is
    # open.
    precision: str | None = None
    # When it is over, excluded: of a day the next one, of a week the Monday behind it. Absent where the text does
    # not say.
    until: datetime | None = None


class DeliveryAttempt(Model):
    id: str  # X-Svc-Delivery of the attempt.
    at: datetime
    attempt: int  # 1 for the first, 2 and 3 for retries.
    duration_ms: int
    error: str | None
    event_id: str
    event_type: str
    ok: bool
    response_snippet: str
    response_status: int | None


class Domain(Model):
    id: str  # The same from cycle to cycle, as long as most of its nodes are.
    cohesion: float  # The share of its nodes' edges that stay inside.
    created_at: datetime
    edge_count: int  # Edges between its nodes.
    keywords: list[str]
    label: str
    node_count: int
    top_nodes: list[str]  # The ids of its most central nodes.
    updated_at: datetime


class Edge(Model):
    id: str
    confidence: float
    created_at: datetime
    evidence: list[str]  # The chunkIds of the passages that it was found in.
    note: str | None  # What the client said of it.
    origin: Open[EdgeOrigin]
    source: str
    status: Open[NodeStatus]
    subject: str | None  # The provisioned subject it belongs to; null for the key owner's own.
    target: str
    tombstoned_at: datetime | None
    type: str
    updated_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None  # Null while it holds.
    weight: float
    # The nodes that the client said it rests on; absent where it named none.
    derived_from: list[str] | None = None
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class Sighting(Model):
    mentions: int  # How many texts there name it.
    node_id: str
    subject: str | None  # Whose memory it is, where that is a provisioned subject's.
    user_id: str | None  # Whose memory it is, where that is a member's.


class Elsewhere(Model):
    data: list[Sighting]
    has_more: bool


class RecurrenceException(Model):
    text: str  # In the sentence's words.
    months: list[int] | None = None
    weekdays: list[Open[Weekday]] | None = None


class Every(Model):
    interval: int  # 2 is every other.
    unit: Open[Literal["hour", "day", "week", "month", "year"]]
    at: list[str] | None = None  # Times of the day, such as 09:30, in the writer's own time.
    end: str | None = None  # When it ends, of the one time in at.
    except_: RecurrenceException | None = Field(None, alias="except")
    month_days: list[int] | None = None  # Days of the month; -1 is the last.
    months: list[int] | None = None  # 1 to 12.
    # Which of the weekdays in the month, or in the unit where it is a longer one: 1 is the first, -1 the last.
    nth: list[int] | None = None
    times: int | None = None  # How often in each.
    weekdays: list[Open[Weekday]] | None = None


class Export(Model):
    bytes: int | None  # Length of the document; null until it is written.
    created_at: datetime
    error: str | None  # Why it failed; null otherwise.
    expires_at: datetime | None
    export_id: str  # Also the id of its job.
    finished_at: datetime | None
    format: Open[Literal["json"]]
    scope: Open[ExportScope]
    sha256: str | None  # Of the document, in hexadecimal; null until it is written.
    # An export expires after some days, and as soon as something in it is forgotten.
    status: Open[ExportStatus]


class FocalNode(Model):
    node_id: str
    title: str
    weight: float  # Their weights add up to 1.


class GraphCounts(Model):
    domains: int
    edges: int  # Edges of the partition that were not forgotten.
    nodes: int  # Live nodes of the partition: now, whatever asOf is, as are the other counts.


class NodeSource(Model):
    external_id: str | None  # The first of externalIds.
    external_ids: list[str]  # Every id under which the client sent this content, earliest first.
    job_id: str | None
    type: str  # How it came in: ingest, import, session, supersede or cognition.


class Node(Model):
    id: str
    authority: float
    confidence: float
    created_at: datetime
    degree: int  # The number of its edges.
    domain_id: str | None
    kind: Open[NodeKind]
    metadata: dict[str, Any]
    restorable_until: datetime | None  # Until when a forgotten node can be restored.
    source: NodeSource
    status: Open[NodeStatus]
    subject: str | None  # The provisioned subject it belongs to; null for the key owner's own.
    superseded_by: str | None
    title: str  # Of a forgotten node empty; of one that was restored what it is, until it is given a title.
    tombstoned_at: datetime | None
    updated_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None  # Null while it holds.
    content: str | None = None  # The text; absent once it was forgotten, and in lists.
    # The nodes that it was derived from, as its edges of type derived_from say; absent where there are none.
    derived_from: list[str] | None = None
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False
    # Of the answer that brought it, not of the node: names this version for if_match.
    etag: str | None = Field(default=None, exclude=True)


class GraphView(Model):
    counts: GraphCounts
    domains: list[Domain]  # Those that the nodes are in.
    edges: list[Edge]  # Those among the nodes, at most 2,000.
    nodes: list[Node]  # The strongest, best first, without their content.


class HistoryActor(Model):
    key_id: str | None  # The id of the API key; for ingestion that of the key that sent the content.
    subject: str | None  # The provisioned subject it was done for; null for a person's own memory.
    user_id: str | None


class HistoryChange(Model):
    after: str | None
    before: str | None  # Metadata as the text of its JSON. Null where there was none, or it was forgotten.
    field: Open[HistoryField]
    truncated: bool  # Before, or after, is the beginning of a text of more than 16 KiB.


class HistoryEntry(Model):
    action: Open[HistoryAction]
    actor: HistoryActor
    at: datetime
    changes: list[HistoryChange]
    reason: str | None


class HitScores(Model):
    keyword: float  # Weight of the words in common.
    vector: float  # Likeness of meaning.


class Hit(Model):
    chunk: str  # The passage.
    chunk_id: str
    created_at: datetime
    external_id: str | None  # The client's own id of the document it is from.
    node_id: str
    score: float  # How well it fits, fused from scores; higher is better.
    scores: HitScores
    subject: str | None  # The provisioned subject whose memory it is from; null for a person's.
    title: str
    explanation: HitExplanation | None = None
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class HopPath(Model):
    activation: float
    edges: list[str]  # edges[i] joins nodes[i] and nodes[i+1].
    node_id: str
    nodes: list[str]  # From what the search found to the result itself.
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class Manifold(Model):
    cumulative_variance: float = Field(alias="cumulative_variance")
    discovered_at: datetime = Field(alias="discovered_at")
    n_basins: int = Field(alias="n_basins")
    n_dimensions: int = Field(alias="n_dimensions")
    n_signals: int = Field(alias="n_signals")
    refresh_count: int = Field(alias="refresh_count")
    silhouette_score: float = Field(alias="silhouette_score")
    variance_ratios: list[float] = Field(alias="variance_ratios")
    version: int


class Portrayal(Model):
    # manner (how they write), themes (what about, mostly and lately), preference and belief (what they say,
    # quoted), people (whom and what they mention), rhythm (when they write); there may be others later.
    kind: str
    nodes: list[str]  # The evidence, at most 20: of texts the latest.
    text: str


class Trait(Model):
    confidence: float
    name: str
    node_ids: list[str]  # The latest of the texts that were measured.
    value: float


class VoiceProfile(Model):
    avg_message_length_words: float
    evidence_count: int  # How many messages were measured.
    formality_level: float
    # All other measures, by group and name. How often something comes is the binary logarithm of its ratio to
    # what is common in chats, commit messages and minutes in English: 0 as everybody, 1 twice as often, -1 half
    # as often, with one occurrence at the common rate taken as seen before. Means are rhythm.typicalWords (of a
    # message), rhythm.sentenceWords and spelling.wordLetters; rhythm.lengthSpread is the standard deviation of
    # the logarithm of a message's length. userVoiceHint of POST /v1/condition/session says in words what stands
    # out.
    style: dict[str, dict[str, float]]
    technical_depth: float


class PlotAxis(Model):
    share: float  # Of the variance.


class PlotEllipse(Model):
    angle: float  # How far the longer half axis is turned from the first axis towards the second, in radians.
    major: float
    minor: float


class PlotBasin(Model):
    id: str
    current: bool
    label: str
    share: float  # Of the passages.
    spread: PlotEllipse  # Two standard deviations of its passages.
    x: float
    y: float


class PlotSignal(Model):
    at: datetime
    basin: str  # The id of its basin.
    node_id: str
    title: str
    x: float
    y: float


class IdentityPlot(Model):
    axes: list[PlotAxis]  # Two, or one where the passages lie on a line.
    basins: list[PlotBasin]
    points: list[PlotSignal]  # Some of the passages, at most 500.
    signal_count: int
    version: int | None  # That of the manifold; null where no plot was derived.


class IdentityView(Model):
    basins: list[Basin]  # As many as manifold.n_basins.
    manifold: Manifold | None  # Null before the first cycle.
    # Who the person is, in plain words: at most 12 sentences, in the order in which one would say them. Each
    # rests on more than one text, and goes at once with any of its nodes that is forgotten or superseded; empty
    # while too little is known. Of a memory that several people write only a line of themes is told.
    portrait: list[Portrayal]
    traits: list[Trait]
    # Of what the memory's person wrote; of all that is written where several people write the memory, and there
    # are no traits then. Null until there is enough writing.
    voice_profile: VoiceProfile | None


class ImportEntry(Model):
    id: str
    bytes: int
    created_at: datetime
    # Null until the job has ended, and 0 until the first cognition cycle behind it has run: how many domains its
    # documents are in then.
    domains_detected: int | None
    error: str | None
    filename: str  # Empty once what came with the file was forgotten.
    finished_at: datetime | None
    format: Open[ImportFormat]
    job_id: str
    nodes_created: int | None  # Null until the job has ended.
    status: Open[JobStatus]


class JobError(Model):
    code: str
    detail: str


class JobProgress(Model):
    done: int
    total: int


class JobItem(Model):
    external_id: str | None
    index: int
    node_id: str | None
    status: Open[ItemStatus]
    error: str | None = None  # Why the item failed.


class JobResult(Model):
    items: list[JobItem]  # Of an ingestion: what became of each item.


class Insight(Model):
    id: str
    confidence: float
    created_at: datetime
    detail: str
    # responsibility, change, due, recurrence, commitment, open_question, rising_topic, fading_topic, outlier or
    # agent_signal; there may be others later.
    kind: str
    node_ids: list[str]  # The evidence.
    title: str
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False


class InsightsView(Model):
    insights: list[Insight]


class Job(Model):
    id: str
    # How often the work that is left of it was begun, not counting what a stop, a crash or a move of the service
    # has interrupted. After 5 that failed the item at its head, or the job, is given up; an erasure never is.
    attempts: int
    created_at: datetime
    error: JobError | None  # Why it failed; null otherwise.
    finished_at: datetime | None
    progress: JobProgress
    result: JobResult | None  # Null until it has finished, in lists, and for jobs that answer nothing.
    started_at: datetime | None
    status: Open[JobStatus]
    subject: str | None  # The provisioned subject it works for; null for a person's own.
    type: Open[JobType]


class Neighbour(Model):
    edge: Edge
    node: Node


class NewKey(Model):
    id: str
    api_key: str  # The key. It is shown this once; a replay carries a marker in its place.
    label: str


class NewSandboxKey(Model):
    id: str
    api_key: str  # The key. It is shown this once.
    expires_at: datetime
    label: str
    scopes: list[str]  # Always read and write.
    subject: str  # The name of the sandbox's one partition.


class NodeChunk(Model):
    chunk_id: str  # As in the hits of a search.
    text: str
    title_path: list[str]  # The headings above it, outermost first.


class NodeMatch(Node):
    passage: NodeChunk  # A passage that holds the rarest of the words.


class EmbeddingState(Model):
    model: str  # The model that content is embedded with.
    chunks: int  # Chunks of all memories.
    embedded: int  # Those embedded with the model; the others are served by a former one until they are.


class OrganizationSettings(Model):
    embedding: EmbeddingState


class OrganizationRef(Model):
    id: str
    display_name: str
    slug: str
    settings: OrganizationSettings


class UserRef(Model):
    id: str


class Principal(Model):
    org: OrganizationRef
    plan: str  # The organization's rate-limit plan.
    scopes: list[str]  # The scopes the key holds.
    # The user's id: whose memory is meant when no subject is selected. It is not a selector.
    subject_default: str
    user: UserRef  # The user who minted the key.


class Proposal(Model):
    id: str
    created_at: datetime
    decided_at: datetime | None
    edge_id: str | None  # The edge that accepting it wrote.
    rationale: str
    score: float
    source: str
    status: Open[ProposalStatus]
    target: str
    type: str


class PurgeReport(Model):
    # Records per store: vault_nodes, memory_chunks, graph_edges and others. What cycles derive (domains,
    # contradictions, edges of origin cognition …) goes too and is not counted, since it changes by itself.
    counts: dict[str, int]
    dry_run: bool
    purged_at: datetime | None  # Null on a dry run.
    request_id: str
    scope: Open[PurgeScope]
    total_rows: int
    confirm_token: str | None = None  # Only from a dry run.
    expires_at: datetime | None = None  # When the token expires.
    subject_id: str | None = None


class RecalledNode(Node):
    chunks: list[NodeChunk]
    neighbours: list[Neighbour]


class Recurrence(Model):
    id: str
    every: Every
    node_id: str
    since: datetime | None  # Null where the sentence does not say.
    text: str  # The words that say how often.
    title: str  # The sentence that says so.
    until: datetime | None  # Exclusive; null where the sentence does not say.


class Retrieved(Model):
    contradictions: list[Contradiction]
    paths: list[HopPath]  # One for each result, in their order.
    results: list[Hit]
    usage: Usage


class SandboxKey(Model):
    id: str  # The SHA-256 of the key, in hexadecimal; it cannot authenticate.
    created_at: datetime
    expires_at: datetime
    label: str
    last_used_at: datetime | None  # To the minute; null if the key was never used.
    revoked_at: datetime | None  # Null while the key is active.
    scopes: list[str]  # What the key may do; of the sandbox always read and write.
    status: Open[KeyStatus]


class SandboxReset(Model):
    reset_at: datetime
    subject: str


class ScaffoldedPrompt(Model):
    focal_nodes: list[FocalNode]  # What shaped it, best first.
    prompt: str
    usage: Usage


class SearchResult(Model):
    results: list[Hit]
    usage: Usage
    explanation: SearchExplanation | None = None


class SentDelivery(Model):
    body: str | None  # The body as it was sent, byte for byte; null where it cannot be told.
    delivery: DeliveryAttempt
    signature: str | None  # X-Svc-Signature as it was sent.
    unavailable: str | None  # Why there is no body: gone or withheld; null where there is one.


class Session(Model):
    id: str
    created_at: datetime
    cwd: str | None
    event_count: int
    first_event_at: datetime | None
    last_event_at: datetime | None
    model: str | None
    signal_count: int
    updated_at: datetime


class SessionResult(Model):
    index: int
    node_id: str | None  # The node that the event becomes; it can be found once it is ingested.
    status: Open[Literal["stored", "deduped", "rejected"]]
    error: str | None = None  # Why it was rejected.


class SessionResults(Model):
    results: list[SessionResult]


class SessionState(Model):
    building: bool  # What is derived from sessions is being built.
    finalize_pending: bool
    ingest_pending: int  # Events that are stored and not yet ingested.
    last_ingested_at: datetime | None
    session_edge_count: int  # The edges of those nodes, as the last cognition cycle counted them.
    session_node_count: int
    total_node_count: int  # All nodes of the subject.
    warm_layers: list[str]  # The recall views that hold something. Depends on the data: do not wait for it.
    already_in_flight: bool | None = None  # Of session-finalize: an earlier one was still under way.


class Settings(Model):
    learn_mode_default: bool
    quality_mode: Open[QualityMode]


class SignalsAccepted(Model):
    accepted: int  # How many signals were stored.


class Subject(Model):
    id: str  # The client's own id.
    created_at: datetime


class Superseded(Model):
    created: bool
    edge_id: str
    new_authority: float
    new_node_id: str
    old_node_id: str


class Team(Model):
    id: str
    created_at: datetime
    member_count: int  # The organization's people.
    name: str
    slug: str


class TeamMember(Model):
    id: str  # The user id.
    created_at: datetime
    email: str
    role: Open[Role]


class Trend(Model):
    change: float  # Relative, of the later half of the time to the earlier.
    direction: Open[Literal["rising", "falling", "steady"]]
    from_: datetime = Field(alias="from")
    node_ids: list[str]  # The evidence.
    topic: str
    until: datetime


class TemporalView(Model):
    events: list[Dated]  # Latest first.
    # What comes again and again, the latest told first, at most 200. Such a time is no event.
    recurrences: list[Recurrence]
    trends: list[Trend]
    cadence: Cadence | None = None  # How regularly something is written; absent while that is too little.


class TrainAccepted(Model):
    job_id: str
    status: Open[Literal["queued"]]


class EvaluationAccepted(Model):
    job_id: str
    status: Open[Literal["queued"]]


class QualityShare(Model):
    count: int
    of: int
    share: float  # 0 of nothing.
    # The 95 % score interval of the share (Wilson), as if those counted were drawn at random.
    low: float
    high: float


class QualityRecall(Model):
    questions: int
    at1: QualityShare
    at5: QualityShare
    at10: QualityShare


class KindRecall(Model):
    # words: a sentence without its most telling words. paraphrase: some of its words in another order. title: the
    # title and two words. former: words of what a superseded memory said; what took its place answers.
    kind: Open[QuestionKind]
    recall: QualityRecall


class LanguagePart(Model):
    language: str  # An ISO 639-1 code, or und.
    memories: QualityShare


class QualityReport(Model):
    job_id: str  # The job that made it.
    at: datetime  # When it was finished.
    scope: Open[ExportScope]
    memories: int  # Live nodes with text that were looked at.
    partial: bool  # There are more of them than are looked at (100,000).
    sampled: int  # How many of them were read and asked about.
    # Of questions made of the memory's own content, without the former ones: the share that what they are made of, or
    # a near duplicate, answers among the first 1, 5 and 10 hits.
    recall: QualityRecall
    # The same by how the questions were made; kinds of which there are none are left out.
    by_kind: list[KindRecall]
    # Of the memories that gave a question, those that none of their own questions found among the first 10 hits.
    unfound: QualityShare
    # Of the sampled, those of which another live memory says nearly the same in nearly the same words.
    near_duplicates: QualityShare
    stale: QualityShare  # Of memories, those that state what has ended, or rest on what no longer stands.
    # Of the rankings of questions, those that put what no longer holds before what does.
    former_first: QualityShare
    contradicted: QualityShare  # Of memories, those that are in an open contradiction.
    languages: list[LanguagePart]  # Of the sampled, the most frequent first.
    model: str  # The embedding model that served.
    brain_version: int | None  # Of the brain that ranked; null: none did.


class UsageUnits(Model):
    embed_tokens: int
    read_units: int


class UsageGroup(Model):
    # What was used, when grouped by capability: search, retrieve, graph, recall, condition, brain or ingest.
    capability: str | None
    # The provisioned subject's id; the user id for a person's own memory; the id that nodes carry for a subject
    # that was erased.
    subject: str
    units: UsageUnits
    key: str | None = None  # The id of the API key, when grouped by key.


class UsageBucket(Model):
    end_time: datetime
    groups: list[UsageGroup]
    start_time: datetime


class UsageReport(Model):
    buckets: list[UsageBucket]  # The earliest first.


class UserIdentity(IdentityView):
    user_id: str


class Webhook(Model):
    id: str
    consecutive_failures: int
    created_at: datetime
    disabled: bool
    disabled_reason: str | None
    event_types: list[str]
    inactive_event_types: list[str]  # Those of its types that nothing publishes on this deployment.
    last_delivery_at: datetime | None
    last_success_at: datetime | None
    updated_at: datetime | None
    url: str
    # The last 50 delivery attempts, newest first; where one endpoint is asked for.
    attempts: list[DeliveryAttempt] | None = None
    # The signing secret, in the answer that made the endpoint; a replay has a marker in its place.
    secret: str | None = None


class WebhookTest(Model):
    duration_ms: int
    error: str | None
    ok: bool
    status: int | None  # What the receiver answered with; null when it did not.


class WrittenAnswer(Model):
    answer: str
    # The passages that the answer was taken from, in its order; empty when memory holds nothing about the
    # question.
    citations: list[Citation]
    gate_confidence: float
    usage: Usage
    voice: str | None  # The voice that the answer is written in; null: the passages' own.
    stale: list[Stale] = Field(default_factory=list)
    stale_incomplete: bool = False
