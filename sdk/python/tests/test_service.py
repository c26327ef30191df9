"""Every verb against the real service, with either client."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from both import KINDS, Both
from conftest import Receiver, Server
from orgmem import (
    ApiError,
    AsyncOrgmem,
    BadSignature,
    Conflict,
    Event,
    IngestItem,
    JobFailed,
    NotFound,
    Orgmem,
    OrgmemError,
)
from orgmem.webhooks import HEADER, verify
from test_contract import LEFT_OUT, OPERATIONS

BOILER = "Mrs Okafor serviced the boiler of the boat house in May."
CAT = "Minka gets her booster jab at the vet on Friday."


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Session:
    """A client of either kind that notes which operations it has called."""

    def __init__(self, both: Both) -> None:
        self.both = both
        self.client = both.client
        self.called: set[str] = set()
        hook: Any = self._note_async if both.kind == "async" else self._note
        both.client._core.http.event_hooks = {"request": [hook]}

    def _note(self, request: httpx.Request) -> None:
        for id, (method, path, _) in OPERATIONS.items():
            # Else /v1/recall/sessions would be a view of /v1/recall/{recall_type}.
            pattern = path.replace("{recall_type}", "(identity|graph|insights|temporal)")
            pattern = re.sub(r"{\w+}", "[^/]+", pattern)
            if method == request.method and re.fullmatch(pattern, request.url.raw_path.decode().split("?")[0]):
                self.called.add(id)

    async def _note_async(self, request: httpx.Request) -> None:
        self._note(request)

    def __call__(self, what: Any) -> Any:
        return self.both.run(what)

    def refused(self, what: Callable[[], Any], code: str) -> None:
        """The verb reaches the service, which has a reason to say no."""
        with pytest.raises(ApiError) as why:
            self(what())
        assert why.value.code == code


def test_every_verb(kind: str, server: Server, receiver: Receiver, tmp_path: Path) -> None:
    key = server.organization("--personal")
    with Both(kind, key, server.url) as both:
        run = Session(both)
        memory = both.client
        adding(run, memory)
        graph(run, memory)
        derived(run, memory)
        subjects(run, memory)
        keys(run, memory)
        files(run, memory, tmp_path)
        webhooks(run, memory, receiver)
        sessions(run, memory)
        brain(run, memory)
        connectors(run, memory)
        account(run, memory)
        assert set(OPERATIONS) - run.called == {"getIngestStatus", "streamEvents"}
        assert run.called.isdisjoint(set(LEFT_OUT) - {"downloadExport"})


def adding(run: Session, memory: Any) -> None:
    job = run(memory.add(BOILER, external_id="boiler", title="Boiler", metadata={"room": "cellar"}, wait=True))
    assert [item.status for item in job.result.items] == ["created"]
    accepted = run(memory.add([IngestItem(content=CAT, external_id="cat"), "The rent is due on the third."]))
    assert accepted.status == "pending"
    job = run(memory.jobs.wait(accepted.job_id))
    assert job.type == "ingest_batch" and len(job.result.items) == 2
    assert run(memory.jobs.get(accepted.job_id)).status == "succeeded"
    assert accepted.job_id in [j.id for j in run(memory.jobs.list(type="ingest_batch", status="succeeded"))]
    with pytest.raises(Conflict):
        run(memory.jobs.cancel(accepted.job_id))
    with pytest.raises(JobFailed):
        run(memory.add(IngestItem(content="On nothing.", derived_from=["nowhere"]), wait=True))

    found = run(memory.search("who looked after the heating?", top_k=2, filters={"metadata": {"room": "cellar"}}))
    assert [hit.external_id for hit in found.results] == ["boiler"]
    assert found.usage.read_units == 1 and isinstance(found.results[0].created_at, datetime)
    assert run(memory.search("heating", mode="keyword")).results == []
    walked = run(memory.retrieve("vaccination of a pet", max_hops=1))
    assert walked.results[0].external_id == "cat" and walked.paths[0].nodes
    assert "Okafor" in run(memory.answer("Who serviced the boiler?", max_words=50)).answer


def graph(run: Session, memory: Any) -> None:
    boiler, cat = (run(memory.search(q)).results[0].node_id for q in ("boiler service", "vaccination of a pet"))
    node = run(memory.get(boiler))
    assert node.content == BOILER and node.metadata == {"room": "cellar"} and node.etag
    renamed = run(memory.update(boiler, {"title": "The boiler"}, if_match=node.etag))
    assert renamed.title == "The boiler" and renamed.etag != node.etag
    run.refused(lambda: memory.update(boiler, {"title": "Late"}, if_match=node.etag), "precondition_failed")
    assert len(run(memory.list(kind="document", page_size=1))) == 3  # three pages
    assert [n.id for n in run(memory.list(external_id="cat"))] == [cat]
    assert [n.id for n in run(memory.list(ids=[cat, "ingest:none"]))] == [cat]
    assert run(memory.find("cat")).content == CAT and run(memory.find("dog")) is None
    assert [entry.action for entry in run(memory.history(boiler))] == ["updated", "created"]

    edge = run(memory.edges.assert_(boiler, cat, "same_house", weight=1, note="Ask at the door."))
    assert edge.weight == 0.4
    assert run(memory.edges.get(edge.id)).note == "Ask at the door."
    assert [e.id for e in run(memory.edges.list(node=cat, type="same_house"))] == [edge.id]
    assert run(memory.edges.delete(edge.id)).status == "tombstoned"

    new = run(memory.supersede(boiler, "Mr Li serviced the boiler of the boat house in June.", "A new year."))
    assert new.created and run(memory.get(boiler)).superseded_by == new.new_node_id
    assert run(memory.delete(cat)).status == "tombstoned"
    run.refused(lambda: memory.get(cat), "node_not_found")
    assert run(memory.find("cat")) is None
    assert run(memory.undelete(cat)).content is None

    entity = next((e for e in run(memory.list(kind="entity"))), None)
    assert entity is not None
    assert run(memory.elsewhere(entity.id)).data == []


def derived(run: Session, memory: Any) -> None:
    recall = memory.recall
    assert run(recall.identity()).basins is not None
    assert run(recall.plot()).points is not None
    assert run(recall.graph(as_of=datetime.now(timezone.utc))).counts.nodes >= 3
    assert isinstance(run(recall.insights()).insights, list)
    assert isinstance(run(recall.all_insights()), list)
    assert isinstance(run(recall.temporal()).events, list)
    assert isinstance(run(recall.all_events(page_size=1)), list)
    match = run(recall.search("rent third"))[0]
    assert "rent" in match.passage.text
    assert run(recall.node(match.id)).chunks[0].text == "The rent is due on the third."
    job = run(memory.jobs.wait(run(memory.quality.evaluate()).job_id))
    (report,) = run(memory.quality.list())
    assert report.job_id == job.id and report.memories == 2
    assert run(memory.contradictions.list(status="open")) == []
    assert run(memory.proposals.list(status="open")) == []
    nobody = "11111111-1111-4111-8111-111111111111"
    run.refused(lambda: memory.proposals.accept(nobody), "proposal_not_found")
    run.refused(lambda: memory.proposals.reject(nobody), "proposal_not_found")
    assert isinstance(run(memory.domains.list(q="boiler")), list)
    run.refused(lambda: memory.domains.get(nobody), "domain_not_found")
    assert run(memory.condition.session("/work")).system_prompt
    assert "rent" in run(memory.condition.scaffold("When is the rent due?", max_tokens=400)).prompt


def subjects(run: Session, memory: Any) -> None:
    odd = "Zoë / 1"
    for id in ("ann", odd):
        assert run(memory.subjects.put(id)).id == id
    assert {s.id for s in run(memory.subjects.list(page_size=1))} == {"ann", odd}
    run(memory.subject(odd).add("The boat house is locked at nine.", wait=True))
    assert run(memory.subject("ann").search("boat house")).results == []
    assert run(memory.subject(odd).search("boat house")).results[0].subject == odd
    run.refused(lambda: memory.subject(odd).brain.answer("x"), "subject_not_supported")
    run(memory.subjects.get(odd))

    preview = run(memory.purge.preview("subject", subject_id=odd))
    assert preview.counts["vault_nodes"] >= 1
    run(memory.subject(odd).add("Another note about boats.", wait=True))
    run.refused(lambda: memory.purge.confirm(preview), "purge_impact_changed")
    report = run(memory.purge.confirm(run(memory.purge.preview("subject", subject_id=odd))))
    assert report.purged_at is not None and run(memory.subject(odd).search("boat house")).results == []
    with pytest.raises(ValueError, match=r"purge\.preview"):
        run(memory.purge.confirm(report))

    run(memory.jobs.wait(run(memory.subjects.erase(odd)).job_id))
    run.refused(lambda: memory.subjects.get(odd), "subject_not_found")


def keys(run: Session, memory: Any) -> None:
    made = run(memory.keys.create("reader", scopes=["read"], idempotency_key="once"))
    again = run(memory.keys.create("reader", scopes=["read"], idempotency_key="once"))
    assert again.id == made.id and again.api_key != made.api_key  # the secret is shown once
    run(memory.keys.revoke(made.id))
    listed = {k.id: k for k in run(memory.keys.list())}[made.id]
    assert (listed.status, listed.scopes, listed.revoked_at is None) == ("revoked", ["read"], False)
    trial = run(memory.sandbox.keys.create(label="try", ttl_seconds=3600))
    assert trial.api_key.startswith("svc_sandbox_") and trial.expires_at > datetime.now(timezone.utc)
    assert [k.id for k in run(memory.sandbox.keys.list())] == [trial.id]
    run(memory.sandbox.keys.revoke(trial.id))
    assert run(memory.sandbox.reset()).subject == trial.subject


def files(run: Session, memory: Any, folder: Path) -> None:
    note = folder / "Zoë's note.md"
    note.write_text("# Moving\n\nThe piano goes to the second floor.\n" + "\n" * 200_000)
    seen: list[tuple[int, int | None]] = []
    accepted = run(memory.imports.upload(note, metadata={"from": "disk"}, on_progress=lambda *at: seen.append(at)))
    job = run(memory.jobs.wait(accepted.job_id))
    size = note.stat().st_size
    assert seen[-1] == (size, size) and len(seen) > 2 and seen == sorted(seen)
    hit = run(memory.search("where does the piano go?")).results[0]
    assert run(memory.get(hit.node_id)).metadata["from"] == "disk"
    talk = b"WEBVTT\n\n00:01.000 --> 00:02.000\nAnn: The kiln is broken.\n"
    run(memory.jobs.wait(run(memory.imports.transcript(talk, filename="talk.vtt", title="Talk")).job_id))
    entries = run(memory.imports.list())
    assert [e.format for e in entries] == ["vtt", "markdown"] and entries[1].job_id == job.id
    assert entries[1].filename == note.name
    with pytest.raises(FileNotFoundError):
        run(memory.imports.upload(folder / "missing"))

    export = run(memory.exports.create(scope="user", format="json"))
    run.refused(lambda: memory.exports.get("11111111-1111-4111-8111-111111111111"), "export_not_found")
    export = run(memory.exports.wait(export.export_id))
    assert [e.export_id for e in run(memory.exports.list())] == [export.export_id]
    target = folder / "all.json"
    progress: list[tuple[int, int | None]] = []
    assert run(memory.exports.download(export.export_id, target, on_progress=lambda *at: progress.append(at))) == target
    assert target.stat().st_size == export.bytes and progress[-1] == (export.bytes, export.bytes)
    assert "piano" in target.read_text() and json.loads(target.read_bytes())
    assert not target.with_name("all.json.part").exists()


def webhooks(run: Session, memory: Any, receiver: Receiver) -> None:
    hook = run(memory.webhooks.create(receiver.url, ["webhook.test"]))
    assert hook.secret.startswith("whsec_")
    assert [w.id for w in run(memory.webhooks.list())] == [hook.id]
    assert run(memory.webhooks.test(hook.id)).ok
    headers, body = receiver.deliveries.get(timeout=30)
    event = memory.webhooks.verify(body, headers[HEADER], hook.secret)
    assert event.type == "webhook.test" and event.org_id == run(memory.me()).org.id
    with pytest.raises(BadSignature, match="does not fit"):
        verify(body + b" ", headers[HEADER], hook.secret)
    with pytest.raises(BadSignature, match=r"600 s old, and 300 s are tolerated.*clock"):
        verify(body, headers[HEADER], hook.secret, now=int(headers[HEADER].split(",")[0][2:]) + 600)
    attempt = run(memory.webhooks.get(hook.id)).attempts[0]
    assert attempt.ok
    sent = run(memory.webhooks.delivery(hook.id, attempt.id))
    assert (sent.body.encode(), sent.signature) == (body, headers[HEADER])
    changed = run(memory.webhooks.update(hook.id, event_types=["job.completed"], disabled=True))
    assert changed.disabled and changed.event_types == ["job.completed"]
    run(memory.webhooks.delete(hook.id))
    assert run(memory.webhooks.list()) == []


def sessions(run: Session, memory: Any) -> None:
    turn = {"session_id": "s1", "role": "user", "text": "The tests of the parser fail.", "event_id": "e1"}
    assert run(memory.sessions.push(turn)).results[0].status == "stored"
    later = {"session_id": "s1", "role": "assistant", "text": "The parser forgot the last line."}
    assert [r.status for r in run(memory.sessions.push([turn, later])).results] == ["deduped", "stored"]
    assert run(memory.signals("s1", [{"type": "test_failure"}])).accepted == 1
    assert run(memory.sessions.finalize()).session_node_count >= 0
    assert run(memory.sessions.status()).total_node_count > 0
    assert [s.id for s in run(memory.recall.sessions())] == ["s1"]
    run(memory.recall.delete_session("s1"))


def brain(run: Session, memory: Any) -> None:
    assert run(memory.brain.info()).artifact is None
    assert run(memory.brain.training()).report is None
    run.refused(lambda: memory.brain.query("boiler", top_k=3), "brain_not_trained")
    assert run(memory.brain.answer("When is the rent due?")).citations
    accepted = run(memory.brain.train())
    with pytest.raises(JobFailed, match="too little to learn from") as why:
        run(memory.jobs.wait(accepted.job_id))
    assert why.value.job.type == "brain_train" and run(memory.brain.info()).training.status == "failed"


def connectors(run: Session, memory: Any) -> None:
    made = run(memory.connectors.create("feed", "News", {"url": "https://localhost/feed"}, enabled=False))
    assert [c.id for c in run(memory.connectors.list())] == [made.id]
    assert run(memory.connectors.get(made.id)).config["url"] == "https://localhost/feed"
    assert run(memory.connectors.update(made.id, name="Old news", interval_seconds=600)).name == "Old news"
    run(memory.connectors.sync(made.id))
    run(memory.connectors.delete(made.id))


def account(run: Session, memory: Any) -> None:
    me = run(memory.me())
    assert me.plan == "unlimited" and set(me.scopes) == {"read", "write", "admin"}
    assert run(memory.team()).member_count == 1
    assert [member.id for member in run(memory.members())] == [me.user.id]
    keys = list(run(memory.member_keys()))
    assert {key.user_id for key in keys} == {me.user.id}
    assert [key.label for key in run(memory.member_keys(ids=[keys[0].id, "0" * 64]))] == [keys[0].label]
    assert run(memory.identity(me.user.id)).user_id == me.user.id
    before = run(memory.settings.get())
    quality = "fast" if before.quality_mode != "fast" else "thorough"
    assert run(memory.settings.update(quality_mode=quality)).quality_mode == quality
    assert run(memory.settings.reset()) == before
    since = datetime.now(timezone.utc) - timedelta(days=1)
    assert run(memory.usage(start_time=since, group_by="capability")).buckets
    assert run(memory.audit(created_after=since, page_size=1))
    run(memory.delete_me())
    run.refused(memory.me, "authentication_error")


def test_a_download_goes_on_where_it_broke_off(kind: str, tmp_path: Path) -> None:
    """And what came is checked: a wrong document is an error, and no file."""
    whole = b"0123456789" * 10_000
    record = {"bytes": len(whole), "createdAt": "2026-01-02T03:04:05Z", "error": None, "expiresAt": None}
    record |= {"exportId": "x", "finishedAt": None, "format": "json", "scope": "user", "status": "succeeded"}
    record["sha256"] = hashlib.sha256(whole).hexdigest()
    ranges: list[str | None] = []
    state = {"body": whole}

    def handler(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/download"):
            return httpx.Response(200, json=record)
        ranges.append(request.headers.get("range"))
        begin = int(ranges[-1][6:-1]) if ranges[-1] else 0
        part = state["body"][begin : begin + 40_000]
        rest = begin + len(part) < len(whole)

        def sync() -> Any:
            yield part
            if rest:
                raise httpx.ReadError("broke off")

        async def slow() -> Any:
            yield part
            if rest:
                raise httpx.ReadError("broke off")

        content: Any = slow() if kind == "async" else sync()
        return httpx.Response(206 if begin else 200, content=content, headers={"ETag": '"1"'})

    with Both(kind, handler=handler) as both:
        target = tmp_path / "export.json"
        both.run(both.client.exports.download("x", target))
        assert target.read_bytes() == whole
        assert ranges == [None, "bytes=40000-", "bytes=80000-"]
        assert both.seen[2].headers["if-range"] == '"1"'
        state["body"] = whole.replace(b"9", b"8")
        with pytest.raises(OrgmemError, match="SHA-256"):
            both.run(both.client.exports.download("x", tmp_path / "other.json"))
    assert [path.name for path in tmp_path.iterdir()] == ["export.json"]


def test_events_tell_of_a_job(client: Orgmem) -> None:
    with client.events(["job.completed"]) as stream:
        accepted = client.add("Something happens.")
        for item in stream:
            assert isinstance(item, Event)
            if item.data["jobId"] == accepted.job_id:
                break


def test_a_cancelled_wait_leaves_the_job(client: Orgmem, server: Server) -> None:
    """Who stops waiting has not stopped the work."""
    key = client.keys.create("k").api_key

    async def main() -> str:
        async with AsyncOrgmem(key, server.url) as memory:
            accepted = await memory.add("A note that is worked off in any case.")
            waiting = asyncio.create_task(memory.jobs.wait(accepted.job_id))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            return (await memory.jobs.wait(accepted.job_id)).status

    assert asyncio.run(main()) == "succeeded"


# The signature, by the service's rules

SECRET = "whsec_dGVzdA=="
VECTOR = "t=1700000000,v1=c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450"


def test_the_vector_of_the_documentation() -> None:
    body = b'{"id":"1"}'
    with pytest.raises(BadSignature, match=r"is signed.*type"):  # the signature is good; the body is no whole event
        verify(body, VECTOR, SECRET, now=1700000000)
    for now, says in [
        (1700000301.0, "301 s old"),
        (1699999699.0, "301 s ahead of this clock"),
        (time.time(), "s old"),
    ]:
        with pytest.raises(BadSignature, match=says):
            verify(body, VECTOR, SECRET, now=now)
    with pytest.raises(BadSignature, match="3600 s ahead"):
        verify(body, VECTOR, SECRET, now=1700000000 - 3600)
    with pytest.raises(BadSignature, match=r"is signed.*type"):
        verify(body, VECTOR, SECRET, now=1700000000 + 3600, tolerance=3600)


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (None, "no signature"),
        ("", "no signature"),
        ("t=,v1=ab", "no signature"),
        ("t=1700000000", "no signature"),
        ("v1=ab", "no signature"),
        ("t=-1700000000,v1=ab", "no signature"),
        ("t=1_700_000_000,v1=ab", "no signature"),
        ("t=\u0661700000000,v1=ab", "no signature"),
        (f"t={'9' * 5000},v1=ab", "no signature"),
        ("t=1700000000,v1=", "does not fit"),
        ("t=1700000000,v1=ü", "does not fit"),
        ("t=1700000000,v1=\udcff", "does not fit"),
        (VECTOR.replace("c7ac", "c7ad"), "does not fit"),
        (VECTOR.replace("1700000000", "1700000001"), "does not fit"),
    ],
)
def test_signatures_that_are_none(header: str | None, says: str) -> None:
    with pytest.raises(BadSignature, match=says):
        verify(b'{"id":"1"}', header, SECRET, now=1700000000)


def test_a_second_signature_is_enough() -> None:
    """While a secret is changed there may be two."""
    with pytest.raises(BadSignature, match=r"is signed.*type"):
        verify(b'{"id":"1"}', VECTOR.replace(",", ",v1=00,"), SECRET, now=1700000000)


def test_a_secret_and_bytes_are_needed() -> None:
    with pytest.raises(BadSignature, match=r"webhooks\.create"):
        verify(b"{}", VECTOR, "")
    with pytest.raises(TypeError, match="bytes"):
        verify('{"id":"1"}', VECTOR, SECRET)  # type: ignore[arg-type]


def test_not_found_is_not_found(client: Orgmem) -> None:
    with pytest.raises(NotFound, match="Check the id"):
        client.get("ingest:nobody:nothing")
