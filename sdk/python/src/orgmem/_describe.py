"""What descriptions of verbs share: parsers, requests, and the steps of waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from orgmem import models as m
from orgmem._calls import (
    Answer,
    Call,
    Now,
    Pause,
    Steps,
    do,
    given,
    json_of,
    key_of,
    plain,
    read,
    segment,
    when,
)
from orgmem.errors import JobFailed, TimedOut

T = TypeVar("T")
Time = datetime | str
Item = str | m.IngestItem | Mapping[str, Any]

FIRST_POLL = 0.02  # seconds between two looks at a job, which a short text takes; half as much longer each time
LONGEST_POLL = 5.0
MOST_LOOKS = 5  # for a node that is forgotten as often as it is found
PATIENCE = 600.0  # seconds until a wait gives up

ACCEPTED = read(m.Accepted)
JOB = read(m.Job)
EDGE = read(m.Edge)
EXPORT = read(m.Export)
PROPOSAL = read(m.Proposal)
PURGE_REPORT = read(m.PurgeReport)
SEARCH_RESULT = read(m.SearchResult)
SESSION_STATE = read(m.SessionState)
SETTINGS = read(m.Settings)
SUBJECT = read(m.Subject)
WEBHOOK = read(m.Webhook)
CONNECTOR = read(m.Connector)

EDGES = read(m.Page[m.Edge])
NODES = read(m.Page[m.Node])
JOBS = read(m.Page[m.Job])


def node_of(answer: Answer) -> m.Node:
    node = m.Node.model_validate_json(answer.body)
    node.etag = answer.headers.get("etag")
    return node


def get(path: str, parse: Callable[[Answer], T], **query: Any) -> Call[T]:
    return Call("GET", path, parse, query=query or None)


def post(path: str, parse: Callable[[Answer], T], body: Mapping[str, Any] | None = None, **how: Any) -> Call[T]:
    return Call("POST", path, parse, body=None if body is None else json_of(body), **how)


def delete(path: str, parse: Callable[[Answer], T]) -> Call[T]:
    return Call("DELETE", path, parse)


def patch(path: str, parse: Callable[[Answer], T], body: Mapping[str, Any]) -> Call[T]:
    return Call("PATCH", path, parse, body=json_of(body))


# Adding


def ingest(
    what: Item | Sequence[Item],
    *,
    external_id: str | None,
    title: str | None,
    kind: str | None,
    occurred_at: Time | None,
    metadata: Mapping[str, Any] | None,
    derived_from: Sequence[str] | None,
    idempotency_key: str | None,
) -> Call[m.Accepted]:
    options = given(
        externalId=external_id,
        title=title,
        kind=kind,
        occurredAt=when(occurred_at),
        metadata=None if metadata is None else dict(metadata),
        derivedFrom=None if derived_from is None else list(derived_from),
    )
    key = key_of(idempotency_key)
    if isinstance(what, str):
        return post("/v1/ingest", ACCEPTED, {"content": what, **options}, key=key)
    if options:
        raise TypeError(f"{', '.join(options)}: say that in the items, where the first argument is not a text")
    if isinstance(what, m.IngestItem | Mapping):
        return post("/v1/ingest", ACCEPTED, plain(what, m.IngestItem), key=key)
    items = [{"content": i} if isinstance(i, str) else plain(i, m.IngestItem) for i in what]
    return post("/v1/ingest/batch", ACCEPTED, {"items": items}, key=key)


def add_and_wait(call: Call[m.Accepted], timeout: float) -> Steps[m.Job]:
    accepted = yield from do(call)
    return (yield from wait_for_job(accepted.job_id, timeout))


# Waiting


def job_of(id: str) -> Call[m.Job]:
    return get(f"/v1/jobs/{segment(id)}", JOB)


def wait_for_job(id: str, timeout: float) -> Steps[m.Job]:
    began = yield Now()
    pause = FIRST_POLL
    while True:
        job = yield from do(job_of(id))
        if job.status == "succeeded":
            return job
        if job.status in ("failed", "cancelled"):
            why = f": {job.error.code}: {job.error.detail}" if job.error else ""
            raise JobFailed(
                f"The {job.type} job {id} {'failed' if job.status == 'failed' else 'was cancelled'}{why}. Correct what "
                "it names, and begin it again.",
                job,
            )
        now = yield Now()
        if now - began + pause > timeout:
            raise TimedOut(
                f"The {job.type} job {id} is {job.status} after {timeout:g} s ({job.progress.done} of "
                f"{job.progress.total} done). It goes on: wait again with jobs.wait({id!r}), or raise timeout."
            )
        yield Pause(pause)
        pause = min(LONGEST_POLL, pause * 1.5)


# Answers


def written_answer(query: str, max_words: int | None) -> Call[m.WrittenAnswer]:
    body = given(query=query, maxWords=max_words)
    return post("/v1/brain/answer", read(m.WrittenAnswer), body, repeatable=True)
