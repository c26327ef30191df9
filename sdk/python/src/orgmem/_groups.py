"""The verbs that come in groups (client.recall), each described once for both clients."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from orgmem import models as m
from orgmem._calls import (
    Answer,
    Call,
    Caller,
    Core,
    Download,
    Kind,
    Steps,
    do,
    given,
    key_of,
    listing,
    nothing,
    plain,
    read,
    segment,
    verb,
    when,
)
from orgmem._describe import (
    ACCEPTED,
    CONNECTOR,
    EDGE,
    EDGES,
    EXPORT,
    JOB,
    JOBS,
    PATIENCE,
    PROPOSAL,
    PURGE_REPORT,
    SESSION_STATE,
    SETTINGS,
    SUBJECT,
    WEBHOOK,
    Time,
    delete,
    get,
    job_of,
    patch,
    post,
    wait_for_job,
    written_answer,
)
from orgmem._upload import Form, Progress, Source
from orgmem.webhooks import verify


class Edges(Caller[Kind]):
    """Relations between nodes."""

    @listing
    def list(
        self,
        *,
        node: str | None = None,
        source: str | None = None,
        target: str | None = None,
        type: str | None = None,
        origin: m.EdgeOrigin | str | None = None,
        page_size: int | None = None,
    ) -> Call[m.Page[m.Edge]]:
        """The edges, newest first."""
        return get(
            "/v1/graph/edges",
            EDGES,
            node=node,
            source=source,
            target=target,
            type=type,
            origin=origin,
            pageSize=page_size,
        )

    @verb
    def get(self, id: str) -> Call[m.Edge]:
        """One edge."""
        return get(f"/v1/graph/edges/{segment(id)}", EDGE)

    @verb
    def assert_(
        self,
        source: str,
        target: str,
        type: str,
        *,
        weight: float | None = None,
        confidence: float | None = None,
        note: str | None = None,
        derived_from: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> Call[m.Edge]:
        """Says that two nodes are related. Weight and confidence count as 0.4 at most."""
        body = given(
            source=source,
            target=target,
            type=type,
            weight=weight,
            confidence=confidence,
            note=note,
            derivedFrom=derived_from,
        )
        return post("/v1/graph/edges", EDGE, body, key=key_of(idempotency_key))

    @verb
    def delete(self, id: str) -> Call[m.Edge]:
        """Forgets an edge."""
        return delete(f"/v1/graph/edges/{segment(id)}", EDGE)


class Domains(Caller[Kind]):
    """Groups of nodes about one matter."""

    @listing
    def list(self, *, q: str | None = None, page_size: int | None = None) -> Call[m.Page[m.Domain]]:
        """The domains."""
        return get("/v1/graph/domains", read(m.Page[m.Domain]), q=q, pageSize=page_size)

    @verb
    def get(self, id: str) -> Call[m.Domain]:
        """One domain."""
        return get(f"/v1/graph/domains/{segment(id)}", read(m.Domain))


class Recall(Caller[Kind]):
    """What cycles have derived. Empty until the first one has run."""

    @verb
    def identity(self) -> Call[m.IdentityView]:
        """Who the person is, by what they wrote."""
        return get("/v1/recall/identity", read(m.IdentityView))

    @verb
    def plot(self) -> Call[m.IdentityPlot]:
        """Where the basins of the identity, and some of its passages, lie."""
        return get("/v1/identity/plot", read(m.IdentityPlot))

    @verb
    def graph(self, *, as_of: Time | None = None) -> Call[m.GraphView]:
        """The strongest nodes, with their edges and domains."""
        return get("/v1/recall/graph", read(m.GraphView), asOf=when(as_of))

    @verb
    def insights(self, *, as_of: Time | None = None) -> Call[m.InsightsView]:
        """What was noticed, newest first: at most 200. all_insights() has no bound."""
        return get("/v1/recall/insights", read(m.InsightsView), asOf=when(as_of))

    @listing
    def all_insights(self, *, as_of: Time | None = None, page_size: int = 100) -> Call[m.Page[m.Insight]]:
        """Everything that was noticed, newest first."""
        return get("/v1/recall/insights", read(m.Page[m.Insight]), asOf=when(as_of), pageSize=page_size)

    @verb
    def temporal(self, *, as_of: Time | None = None) -> Call[m.TemporalView]:
        """What happened when, what recurs, what rises and falls: at most 200 events. all_events() has no bound."""
        return get("/v1/recall/temporal", read(m.TemporalView), asOf=when(as_of))

    @listing
    def all_events(self, *, as_of: Time | None = None, page_size: int = 100) -> Call[m.Page[m.Dated]]:
        """Every event of the temporal view, latest first."""
        return get("/v1/recall/temporal", read(m.Page[m.Dated]), asOf=when(as_of), pageSize=page_size)

    @verb
    def node(self, id: str) -> Call[m.RecalledNode]:
        """A node with its passages and neighbours."""
        return get(f"/v1/recall/graph/node/{segment(id)}", read(m.RecalledNode))

    @listing
    def search(self, q: str, *, as_of: Time | None = None, page_size: int | None = None) -> Call[m.Page[m.NodeMatch]]:
        """Nodes that hold all words of q, each with the passage that holds the rarest."""
        return get("/v1/recall/graph/search", read(m.Page[m.NodeMatch]), q=q, asOf=when(as_of), pageSize=page_size)

    @listing
    def sessions(self, *, page_size: int | None = None) -> Call[m.Page[m.Session]]:
        """The coding sessions."""
        return get("/v1/recall/sessions", read(m.Page[m.Session]), pageSize=page_size)

    @verb
    def delete_session(self, id: str) -> Call[None]:
        """Forgets a coding session."""
        return delete(f"/v1/recall/sessions/{segment(id)}", nothing)


class Contradictions(Caller[Kind]):
    """Texts that cannot both hold."""

    @listing
    def list(
        self, *, status: m.ContradictionStatus | str | None = None, page_size: int | None = None
    ) -> Call[m.Page[m.Contradiction]]:
        """The contradictions, newest first. They are reported, and never resolved by the service."""
        return get("/v1/contradictions", read(m.Page[m.Contradiction]), status=status, pageSize=page_size)


class Proposals(Caller[Kind]):
    """Relations that a cycle believes in. Each is decided once."""

    @listing
    def list(
        self, *, status: m.ProposalStatus | str | None = None, page_size: int | None = None
    ) -> Call[m.Page[m.Proposal]]:
        """The proposals."""
        return get("/v1/proposals", read(m.Page[m.Proposal]), status=status, pageSize=page_size)

    @verb
    def accept(self, id: str, *, idempotency_key: str | None = None) -> Call[m.Proposal]:
        """Makes the proposed edge."""
        return post(f"/v1/proposals/{segment(id)}/accept", PROPOSAL, key=key_of(idempotency_key))

    @verb
    def reject(self, id: str, *, idempotency_key: str | None = None) -> Call[m.Proposal]:
        """Says no; the pair is not proposed again."""
        return post(f"/v1/proposals/{segment(id)}/reject", PROPOSAL, key=key_of(idempotency_key))


class Condition(Caller[Kind]):
    """What to tell another model about this memory."""

    @verb
    def session(self, cwd: str, *, org_id: str | None = None, user_id: str | None = None) -> Steps[m.ConditioningPack]:
        """A system prompt for a session in a working directory. Ids that are not given are those of me()."""
        if org_id is None or user_id is None:
            me = yield from do(get("/v1/me", read(m.Principal)))
            org_id, user_id = org_id or me.org.id, user_id or me.user.id
        body = {"orgId": org_id, "userId": user_id, "cwd": cwd}
        return (yield from do(post("/v1/condition/session", read(m.ConditioningPack), body, repeatable=True)))

    @verb
    def scaffold(self, prompt: str, *, max_tokens: int | None = None) -> Call[m.ScaffoldedPrompt]:
        """The prompt with what memory has for it around it."""
        body = given(prompt=prompt, maxTokens=max_tokens)
        return post("/v1/condition/scaffold", read(m.ScaffoldedPrompt), body, repeatable=True)


class Subjects(Caller[Kind]):
    """The users of your product, each with a memory of their own."""

    @verb
    def put(self, id: str) -> Call[m.Subject]:
        """Makes a subject; one that is there stays as it is."""
        return Call("PUT", f"/v1/subjects/{segment(id)}", SUBJECT)

    @verb
    def get(self, id: str) -> Call[m.Subject]:
        """One subject."""
        return get(f"/v1/subjects/{segment(id)}", SUBJECT)

    @listing
    def list(self, *, page_size: int | None = None) -> Call[m.Page[m.Subject]]:
        """All subjects."""
        return get("/v1/subjects", read(m.Page[m.Subject]), pageSize=page_size)

    @verb
    def erase(self, id: str) -> Call[m.Accepted]:
        """Removes a subject with all that is in its memory; jobs.wait tells when nothing is left."""
        return delete(f"/v1/subjects/{segment(id)}", ACCEPTED)


class Keys(Caller[Kind]):
    """API keys."""

    @listing
    def list(self) -> Call[m.Page[m.ApiKey]]:
        """The caller's keys, newest first."""
        keys = read(m.KeyList)
        return get("/v1/keys", lambda answer: m.Page[m.ApiKey](data=keys(answer).keys))

    @verb
    def create(
        self, label: str, *, scopes: Sequence[m.Scope] | None = None, idempotency_key: str | None = None
    ) -> Call[m.NewKey]:
        """Makes a key; it is shown this once. Without scopes it has those of the present key."""
        return post("/v1/keys", read(m.NewKey), given(label=label, scopes=scopes), key=key_of(idempotency_key))

    @verb
    def revoke(self, id: str) -> Call[None]:
        """Ends a key, from the next request on."""
        return delete(f"/v1/keys/{segment(id)}", nothing)


class SandboxKeys(Caller[Kind]):
    """Keys of the sandbox."""

    @listing
    def list(self, *, page_size: int | None = None) -> Call[m.Page[m.SandboxKey]]:
        """The sandbox's keys that have not expired."""
        return get("/v1/sandbox/keys", read(m.Page[m.SandboxKey]), pageSize=page_size)

    @verb
    def create(self, *, label: str | None = None, ttl_seconds: int | None = None) -> Call[m.NewSandboxKey]:
        """Makes a key. It is sent once: a repetition would make another."""
        return post("/v1/sandbox/keys", read(m.NewSandboxKey), given(label=label, ttlSeconds=ttl_seconds))

    @verb
    def revoke(self, id: str) -> Call[None]:
        """Ends a key of the sandbox."""
        return delete(f"/v1/sandbox/keys/{segment(id)}", nothing)


class Sandbox(Caller[Kind]):
    """A memory to try things in."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.keys: SandboxKeys[Kind] = SandboxKeys(core)

    @verb
    def reset(self, *, idempotency_key: str | None = None) -> Call[m.SandboxReset]:
        """Empties the sandbox; its keys stay."""
        return post("/v1/sandbox/reset", read(m.SandboxReset), key=key_of(idempotency_key))


class Jobs(Caller[Kind]):
    """Work that goes on after the answer."""

    @verb
    def get(self, id: str) -> Call[m.Job]:
        """One job."""
        return job_of(id)

    @listing
    def list(
        self,
        *,
        type: m.JobType | str | None = None,
        status: m.JobStatus | str | None = None,
        page_size: int | None = None,
    ) -> Call[m.Page[m.Job]]:
        """The jobs, newest first, without their results."""
        return get("/v1/jobs", JOBS, type=type, status=status, pageSize=page_size)

    @verb
    def cancel(self, id: str) -> Call[m.Job]:
        """Ends a job that has not ended."""
        return post(f"/v1/jobs/{segment(id)}/cancel", JOB)

    @verb
    def wait(self, id: str, *, timeout: float = PATIENCE) -> Steps[m.Job]:
        """Waits until a job has succeeded; JobFailed if it fails or is cancelled, TimedOut after timeout seconds."""
        return (yield from wait_for_job(id, timeout))


class Imports(Caller[Kind]):
    """Files of many formats; docs/imports.md lists them."""

    @verb
    def upload(
        self,
        file: Source,
        *,
        filename: str | None = None,
        title: str | None = None,
        occurred_at: Time | None = None,
        metadata: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
        timeout: float = PATIENCE,
    ) -> Call[m.Accepted]:
        """Sends a file (a path, bytes, or one that is open) as it is read; on_progress(sent, of) tells how far it is.

        Imports are not replayed, so it is sent once; what is in memory already is not stored twice.
        """
        fields = _form_fields(title, occurred_at, metadata)
        form = Form(file, field="file", filename=filename, fields=fields, on_progress=on_progress)
        return Call("POST", "/v1/import", ACCEPTED, form=form, timeout=timeout)

    @verb
    def transcript(
        self,
        file: Source,
        *,
        filename: str | None = None,
        title: str | None = None,
        occurred_at: Time | None = None,
        metadata: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
        timeout: float = PATIENCE,
    ) -> Call[m.Accepted]:
        """Sends a transcript, like upload."""
        fields = _form_fields(title, occurred_at, metadata)
        form = Form(file, field="transcript", filename=filename, fields=fields, on_progress=on_progress)
        return Call("POST", "/v1/import/transcript", ACCEPTED, form=form, timeout=timeout)

    @listing
    def list(self) -> Call[m.Page[m.ImportEntry]]:
        """The newest 20 imports."""
        return get("/v1/import", read(m.Page[m.ImportEntry]))


def _form_fields(title: str | None, occurred_at: Time | None, metadata: Mapping[str, Any] | None) -> dict[str, str]:
    return given(
        title=title,
        occurredAt=when(occurred_at),
        metadata=None if metadata is None else json.dumps(dict(metadata)),
    )


class Exports(Caller[Kind]):
    """All of a memory, or of the organization, as one JSON document."""

    @verb
    def create(
        self,
        *,
        scope: m.ExportScope | None = None,
        format: Literal["json"] | None = None,
        idempotency_key: str | None = None,
    ) -> Call[m.Export]:
        """Begins an export."""
        return post("/v1/exports", EXPORT, given(scope=scope, format=format), key=key_of(idempotency_key))

    @verb
    def get(self, id: str) -> Call[m.Export]:
        """One export."""
        return get(f"/v1/exports/{segment(id)}", EXPORT)

    @listing
    def list(self, *, page_size: int | None = None) -> Call[m.Page[m.Export]]:
        """The exports."""
        return get("/v1/exports", read(m.Page[m.Export]), pageSize=page_size)

    @verb
    def wait(self, id: str, *, timeout: float = PATIENCE) -> Steps[m.Export]:
        """Waits until an export can be downloaded."""
        yield from wait_for_job(id, timeout)
        return (yield from do(get(f"/v1/exports/{segment(id)}", EXPORT)))

    @verb
    def download(self, id: str, path: str | os.PathLike[str], *, on_progress: Progress | None = None) -> Steps[Path]:
        """Writes an export to a file, as it comes; goes on where it broke off, and checks the SHA-256 at the end."""
        target = Path(path)
        export = yield from do(get(f"/v1/exports/{segment(id)}", EXPORT))
        route = f"/v1/exports/{segment(id)}/download"
        yield Download(route, target, export.bytes, export.sha256, on_progress)
        return target


class Purge(Caller[Kind]):
    """Deletes a memory, in two steps."""

    @verb
    def preview(self, scope: m.PurgeScope, *, subject_id: str | None = None) -> Call[m.PurgeReport]:
        """Counts what would go, and deletes nothing. Look at it, and give it to confirm."""
        body = given(scope=scope, subjectId=subject_id, dryRun=True)
        return post("/v1/purge", PURGE_REPORT, body, repeatable=True)

    @verb
    def confirm(self, preview: m.PurgeReport) -> Call[m.PurgeReport]:
        """Deletes what a preview counted; Conflict if that has changed since."""
        if not preview.dry_run or not preview.confirm_token:
            raise ValueError("this report is of no preview: call purge.preview(scope) first")
        body = given(
            scope=preview.scope, subjectId=preview.subject_id, dryRun=False, confirmToken=preview.confirm_token
        )
        return post("/v1/purge", PURGE_REPORT, body)


class Webhooks(Caller[Kind]):
    """Addresses to which the service sends what happened."""

    @listing
    def list(self, *, page_size: int | None = None) -> Call[m.Page[m.Webhook]]:
        """The endpoints."""
        return get("/v1/webhooks", read(m.Page[m.Webhook]), pageSize=page_size)

    @verb
    def create(
        self, url: str, event_types: Sequence[m.EventType | Literal["*"]], *, idempotency_key: str | None = None
    ) -> Call[m.Webhook]:
        """Registers an address; the answer has the signing secret, this once."""
        return post("/v1/webhooks", WEBHOOK, {"url": url, "eventTypes": event_types}, key=key_of(idempotency_key))

    @verb
    def get(self, id: str) -> Call[m.Webhook]:
        """One endpoint, with its last deliveries."""
        return get(f"/v1/webhooks/{segment(id)}", WEBHOOK)

    @verb
    def update(
        self,
        id: str,
        *,
        url: str | None = None,
        event_types: Sequence[m.EventType | Literal["*"]] | None = None,
        disabled: bool | None = None,
    ) -> Call[m.Webhook]:
        """Changes an endpoint; disabled=False starts one again."""
        return patch(f"/v1/webhooks/{segment(id)}", WEBHOOK, given(url=url, eventTypes=event_types, disabled=disabled))

    @verb
    def delete(self, id: str) -> Call[None]:
        """Removes an endpoint."""
        return delete(f"/v1/webhooks/{segment(id)}", nothing)

    @verb
    def test(self, id: str) -> Call[m.WebhookTest]:
        """Sends a test delivery, and tells how it went."""
        return post(f"/v1/webhooks/{segment(id)}/test", read(m.WebhookTest))

    @verb
    def delivery(self, id: str, delivery_id: str) -> Call[m.SentDelivery]:
        """What one of an endpoint's last deliveries has sent, and its signature."""
        return get(f"/v1/webhooks/{segment(id)}/deliveries/{segment(delivery_id)}", read(m.SentDelivery))

    verify = staticmethod(verify)


class Sessions(Caller[Kind]):
    """Turns of coding sessions."""

    @verb
    def push(
        self, events: m.SessionEvent | Mapping[str, Any] | Iterable[m.SessionEvent | Mapping[str, Any]]
    ) -> Call[m.SessionResults]:
        """Stores turns, at most 500. One that is sent again is recognised, and not stored twice."""
        if isinstance(events, m.SessionEvent | Mapping):
            return post("/v1/ingest/session-event", _one_result, _turn(events), repeatable=True)
        body = {"events": [_turn(event) for event in events]}
        return post("/v1/ingest/session-batch", read(m.SessionResults), body, repeatable=True)

    @verb
    def finalize(self) -> Call[m.SessionState]:
        """Begins to build what is derived from sessions; again is no more than once."""
        return post("/v1/ingest/session-finalize", SESSION_STATE, repeatable=True)

    @verb
    def status(self) -> Call[m.SessionState]:
        """How far that is."""
        return get("/v1/ingest/session-status", SESSION_STATE)


def _turn(event: m.SessionEvent | Mapping[str, Any]) -> dict[str, Any]:
    turn = plain(event, m.SessionEvent)
    if "eventId" not in turn and "at" not in turn:
        # The service knows a turn by its eventId, else by its text and time; without a time that is the time of
        # arrival, by which a second try would be another turn.
        turn["eventId"] = str(uuid.uuid4())
    return turn


def _one_result(answer: Answer) -> m.SessionResults:
    return m.SessionResults(results=[m.SessionResult.model_validate_json(answer.body)])


class Quality(Caller[Kind]):
    """Whether a memory finds what it holds."""

    @verb
    def evaluate(
        self, *, scope: m.ExportScope | None = None, idempotency_key: str | None = None
    ) -> Call[m.EvaluationAccepted]:
        """Begins an evaluation; its report is the first of the list once the job has ended."""
        return post("/v1/quality", read(m.EvaluationAccepted), given(scope=scope), key=key_of(idempotency_key))

    @listing
    def list(
        self, *, scope: m.ExportScope | None = None, page_size: int | None = None
    ) -> Call[m.Page[m.QualityReport]]:
        """The reports, the newest first."""
        return get("/v1/quality", read(m.Page[m.QualityReport]), scope=scope, pageSize=page_size)


class Brain(Caller[Kind]):
    """The organization's trained model."""

    @verb
    def train(self) -> Call[m.TrainAccepted]:
        """Begins a training."""
        return post("/v1/brain/train", read(m.TrainAccepted))

    @verb
    def info(self) -> Call[m.BrainInfo]:
        """The brain that serves, and the latest training."""
        return get("/v1/brain/info", read(m.BrainInfo))

    @verb
    def training(self) -> Call[m.BrainTraining]:
        """How the brain was trained, and where it wins and loses."""
        return get("/v1/brain/training", read(m.BrainTraining))

    @verb
    def query(self, query: str, *, top_k: int | None = None) -> Call[m.BrainFound]:
        """What the brain finds."""
        return post("/v1/brain/query", read(m.BrainFound), given(query=query, topK=top_k), repeatable=True)

    @verb
    def answer(self, query: str, *, max_words: int | None = None) -> Call[m.WrittenAnswer]:
        """An answer with its citations."""
        return written_answer(query, max_words)


ConnectorConfig = m.FeedConfig | m.GitConfig | m.WebConfig | Mapping[str, Any]


class Connectors(Caller[Kind]):
    """Feeds, web sites and repositories that are read regularly."""

    @listing
    def list(self, *, page_size: int | None = None) -> Call[m.Page[m.Connector]]:
        """The connectors."""
        return get("/v1/connectors", read(m.Page[m.Connector]), pageSize=page_size)

    @verb
    def create(
        self,
        type: m.ConnectorType,
        name: str,
        config: ConnectorConfig,
        *,
        interval_seconds: int | None = None,
        enabled: bool | None = None,
    ) -> Call[m.Connector]:
        """Makes a connector."""
        body = given(type=type, name=name, config=_config(config), intervalSeconds=interval_seconds, enabled=enabled)
        return post("/v1/connectors", CONNECTOR, body)

    @verb
    def get(self, id: str) -> Call[m.Connector]:
        """One connector, without its secrets."""
        return get(f"/v1/connectors/{segment(id)}", CONNECTOR)

    @verb
    def update(
        self,
        id: str,
        *,
        name: str | None = None,
        config: ConnectorConfig | None = None,
        interval_seconds: int | None = None,
        enabled: bool | None = None,
    ) -> Call[m.Connector]:
        """Changes a connector."""
        body = given(
            name=name,
            config=None if config is None else _config(config),
            intervalSeconds=interval_seconds,
            enabled=enabled,
        )
        return patch(f"/v1/connectors/{segment(id)}", CONNECTOR, body)

    @verb
    def delete(self, id: str) -> Call[None]:
        """Removes a connector; what it brought stays."""
        return delete(f"/v1/connectors/{segment(id)}", nothing)

    @verb
    def sync(self, id: str) -> Call[m.Accepted]:
        """Reads its source now."""
        return post(f"/v1/connectors/{segment(id)}/sync", ACCEPTED)


def _config(config: ConnectorConfig) -> dict[str, Any]:
    if isinstance(config, Mapping):
        return dict(config)
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True)


class SettingsVerbs(Caller[Kind]):
    """Settings of the effective subject."""

    @verb
    def get(self) -> Call[m.Settings]:
        """The settings."""
        return get("/v1/settings", SETTINGS)

    @verb
    def update(
        self, *, quality_mode: m.QualityMode | None = None, learn_mode_default: bool | None = None
    ) -> Call[m.Settings]:
        """Changes those that are given."""
        return patch("/v1/settings", SETTINGS, given(qualityMode=quality_mode, learnModeDefault=learn_mode_default))

    @verb
    def reset(self, *, idempotency_key: str | None = None) -> Call[m.Settings]:
        """Back to the server's defaults."""
        return post("/v1/settings/reset", SETTINGS, key=key_of(idempotency_key))
