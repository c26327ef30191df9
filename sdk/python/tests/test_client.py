"""What a client does with a request, by what it sends and how it takes what comes back."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from both import KEY, KINDS, Both
from orgmem import (
    ApiError,
    AsyncOrgmem,
    BadAnswer,
    BadRequest,
    Conflict,
    ConnectionFailed,
    IngestItem,
    JobFailed,
    Orgmem,
    OrgmemError,
    RateLimited,
    ServerError,
    TimedOut,
)
from orgmem.mem0 import AsyncMemory, Memory
from stub import Stub, answer, problem as stubbed_problem
from test_contract import PREVIEW, example

FOUND = {"results": [], "usage": {"readUnits": 1, "embedTokens": 1}}
ACCEPTED = {"jobId": "j", "status": "pending"}
SUBJECT = {"id": "ann", "createdAt": "2026-01-02T03:04:05Z"}


def problem(status: int, code: str, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
    about = {"type": "about:blank", "title": "Title", "status": status, "detail": "Detail.", "code": code}
    return httpx.Response(status, json={**about, "requestId": "req", **fields}, headers=headers)


class Answers:
    """Answers in their order; a failure is raised."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = iter(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ok(body: Any = FOUND) -> httpx.Response:
    return httpx.Response(200, json=body)


# Construction


def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORGMEM_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("ORGMEM_BASE_URL", "https://memory.example.org/")
    with Orgmem() as client:
        assert repr(client) == "Orgmem(base_url='https://memory.example.org')"
    monkeypatch.delenv("ORGMEM_BASE_URL")
    with Orgmem("other", transport=httpx.MockTransport(lambda r: ok(SUBJECT))) as client:
        assert repr(client) == "Orgmem(base_url='http://127.0.0.1:8080')"


@pytest.mark.parametrize(
    ("key", "url", "says"),
    [
        ("", "http://127.0.0.1:1", "ORGMEM_API_KEY"),
        ("two words", "http://127.0.0.1:1", "slip in copying"),
        (KEY, "127.0.0.1:8080", "http://"),
        (KEY, "ftp://127.0.0.1", "http://"),
        (KEY, "http://", "a host"),
        (KEY, "http://127.0.0.1:port", "ORGMEM_BASE_URL"),
        (KEY, "http://me:secret@127.0.0.1", "user name"),
        (KEY, "http://127.0.0.1:8080/v1", "leave the /v1 away"),
        (KEY, "http://memory.example.org", "allow_insecure"),
        (KEY, "http://192.168.1.2:8080", "allow_insecure"),
    ],
)
def test_settings_that_cannot_work(key: str, url: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORGMEM_API_KEY", raising=False)
    for made in (Orgmem, AsyncOrgmem):
        with pytest.raises(OrgmemError, match=says):
            made(key, url)


def test_plain_http_where_it_may() -> None:
    for url in ("http://localhost:1", "http://[::1]:1", "https://memory.example.org"):
        Orgmem(KEY, url).close()
    Orgmem(KEY, "http://memory.example.org", allow_insecure=True).close()


def test_the_key_is_not_shown() -> None:
    with Orgmem(KEY, "http://127.0.0.1:1") as client:
        assert KEY not in repr(client) + repr(client.subject("ann")) + repr(client.search)


def test_no_proxy_gets_the_key_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(answer(200, FOUND)) as proxy, Stub(answer(200, FOUND)) as service:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        with Orgmem(KEY, service.url) as client:
            client.search("x")
    assert len(service.requests) == 1 and proxy.requests == []


# Requests


def test_what_is_sent(kind: str) -> None:
    with Both(kind, handler=Answers(ok())) as both:
        both.run(
            both.client.search("Grüße", top_k=3, filters={"created_after": datetime(2026, 1, 2, tzinfo=timezone.utc)})
        )
        sent = both.seen[0]
    assert sent.headers["x-svc-api-key"] == KEY and "x-svc-subject" not in sent.headers
    assert json.loads(sent.content) == {
        "query": "Grüße",
        "topK": 3,
        "filters": {"createdAfter": "2026-01-02T00:00:00Z"},
    }


@pytest.mark.parametrize(("subject", "header"), [("ann", "ann"), ("Zoë/1", "Zo%C3%AB%2F1"), ("a b", "a%20b")])
def test_subject(kind: str, subject: str, header: str) -> None:
    with Both(kind, handler=Answers(ok(), ok(), ok(SUBJECT))) as both:
        view = both.client.subject(subject)
        both.run(view.search("x"))
        both.run(view.close())  # closes nothing of the client it came from
        both.run(both.client.search("x"))
        both.run(both.client.subjects.put(subject))
    assert both.seen[0].headers["x-svc-subject"] == header
    assert "x-svc-subject" not in both.seen[1].headers
    assert both.seen[2].url.raw_path == f"/v1/subjects/{header}".encode()


def test_a_subject_without_a_name_is_refused(kind: str) -> None:
    """An empty header would be none: the call would act for the owner of the key."""
    with Both(kind, handler=Answers()) as both, pytest.raises(ValueError, match="empty"):
        both.client.subject("")


def test_ids_stay_one_segment() -> None:
    with Both("sync", handler=Answers(*[ok(SUBJECT) for _ in range(3)])) as both:
        for id in ("..", ".", "a/../b?c#d"):
            both.client.subjects.get(id)
        paths = [request.url.raw_path for request in both.seen]
        with pytest.raises(ValueError, match="empty"):
            both.client.subjects.get("")
    assert paths == [b"/v1/subjects/%2E%2E", b"/v1/subjects/%2E", b"/v1/subjects/a%2F..%2Fb%3Fc%23d"]


def test_add_takes_texts_and_items(kind: str) -> None:
    with Both(kind, handler=Answers(*[ok(ACCEPTED) for _ in range(4)])) as both:
        both.run(both.client.add("a", external_id="x", occurred_at="2026-01-02T03:04:05Z"))
        both.run(both.client.add({"content": "b", "externalId": "y"}))
        both.run(both.client.add(["c", IngestItem(content="d", external_id="z"), {"content": "e", "external_id": "w"}]))
        both.run(both.client.add(IngestItem(content="f")))
        bodies = [(r.url.path, json.loads(r.content)) for r in both.seen]
        with pytest.raises(TypeError, match="externalId"):
            both.run(both.client.add(["a"], external_id="x"))
        with pytest.raises(ValueError, match="time zone"):
            both.run(both.client.add("a", occurred_at=datetime(2026, 1, 2)))
    assert bodies == [
        ("/v1/ingest", {"content": "a", "externalId": "x", "occurredAt": "2026-01-02T03:04:05Z"}),
        ("/v1/ingest", {"content": "b", "externalId": "y"}),
        (
            "/v1/ingest/batch",
            {
                "items": [
                    {"content": "c"},
                    {"content": "d", "externalId": "z"},
                    {"content": "e", "externalId": "w"},
                ]
            },
        ),
        ("/v1/ingest", {"content": "f"}),
    ]


def test_an_explicit_null_is_sent() -> None:
    node = {"id": "n"}
    with Both("sync", handler=Answers(ok(node))) as both:
        with pytest.raises(OrgmemError):  # the answer is no whole node
            both.client.update("n", {"domain_id": None}, if_match='"e"')
        assert json.loads(both.seen[0].content) == {"domainId": None}
        assert both.seen[0].headers["if-match"] == '"e"'


def test_turns_without_an_id_get_one() -> None:
    """Without it a second try would be another turn."""
    result = {"index": 0, "nodeId": "n", "status": "stored"}
    with Both("sync", handler=Answers(httpx.ConnectError("gone"), ok(result), ok(result))) as both:
        both.client.sessions.push({"session_id": "s", "role": "user", "text": "t"})
        first, second = (json.loads(r.content)["eventId"] for r in both.seen)
        both.client.sessions.push({"session_id": "s", "role": "user", "text": "t", "at": "2026-01-02T03:04:05Z"})
    assert first == second and "eventId" not in json.loads(both.seen[2].content)


# Retries


def test_retries_with_growing_jitter(kind: str) -> None:
    failures: list[httpx.Response | Exception] = [
        httpx.ConnectError("no"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("gone"),
    ]
    failures += [problem(status, "x") for status in (408, 429, 502, 503, 504)]
    with Both(kind, handler=Answers(*failures, ok()), retry_budget=1000) as both:
        both.run(both.client.search("x"))
    assert both.slept == [0.25, 0.5, 1, 2, 4, 8, 10, 10]


def test_never_before_retry_after(kind: str) -> None:
    date = "Fri, 02 Jan 2026 03:04:15 GMT"
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc).timestamp()
    refusals = [problem(429, "rate_limit_exceeded", {"Retry-After": r}) for r in ("7", date, "soon", "-1")]
    with Both(kind, handler=Answers(*refusals, ok()), random=lambda: 0.5, clock=lambda: now) as both:
        both.run(both.client.search("x"))
    assert both.slept == [7.125, 10.25, 0.5, 1.0]


def test_gives_up_within_its_bounds(kind: str) -> None:
    with Both(kind, handler=lambda r: problem(503, "service_degraded"), max_retries=3) as both:
        with pytest.raises(ServerError, match=r"the last of 4 tries") as raised:
            both.run(both.client.search("x"))
        assert len(both.seen) == 4 and raised.value.code == "service_degraded"
    with Both(kind, handler=lambda r: problem(429, "r", {"Retry-After": "50"})) as both:
        with pytest.raises(RateLimited) as limited:
            both.run(both.client.search("x"))
        assert len(both.seen) == 2 and sum(both.slept) <= 60
        assert limited.value.retry_after == 50


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 422, 500])
def test_what_will_not_pass_is_not_repeated(kind: str, status: int) -> None:
    with Both(kind, handler=lambda r: problem(status, "some_code")) as both:
        with pytest.raises(ApiError):
            both.run(both.client.search("x"))
        assert len(both.seen) == 1


def test_one_key_for_all_tries(kind: str) -> None:
    answers = [problem(503, "x"), problem(409, "idempotency_in_progress"), ok(ACCEPTED), ok(ACCEPTED), ok(ACCEPTED)]
    with Both(kind, handler=Answers(*answers)) as both:
        both.run(both.client.add("a"))
        both.run(both.client.add("a"))
        both.run(both.client.add("a", idempotency_key="mine"))
    keys = [request.headers["idempotency-key"] for request in both.seen]
    assert keys[0] == keys[1] == keys[2] != keys[3] and keys[4] == "mine"
    assert len(keys[0]) == 36


@pytest.mark.parametrize("key", ["", " ", "a b", "line\n", "\x00", "Grüße", "\ud800", "k" * 256])
def test_a_key_that_no_header_can_carry_is_refused_at_once(kind: str, key: str) -> None:
    with Both(kind, handler=Answers()) as both:
        calls: list[Callable[[], Any]] = [
            lambda: both.client.add("a", idempotency_key=key),
            lambda: both.client.add("a", idempotency_key=key, wait=True),
            lambda: both.client.supersede("n", "b", "c", idempotency_key=key),
            lambda: both.client.keys.create("label", idempotency_key=key),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="255 visible ASCII"):
                both.run(call())
    assert both.seen == []


def test_the_longest_key(kind: str) -> None:
    with Both(kind, handler=Answers(ok(ACCEPTED))) as both:
        both.run(both.client.add("a", idempotency_key="!~" + "k" * 253))
    assert len(both.seen[0].headers["idempotency-key"]) == 255


def test_another_conflict_is_no_reason_to_repeat(kind: str) -> None:
    with Both(kind, handler=Answers(problem(409, "already_superseded"))) as both, pytest.raises(Conflict):
        both.run(both.client.supersede("a", "b", "c"))


@pytest.mark.parametrize("verb", ["update", "cancel", "upload", "confirm", "sandbox key"])
def test_what_may_not_be_repeated_is_sent_once(kind: str, verb: str, tmp_path: Path) -> None:
    with Both(kind, handler=lambda r: problem(503, "service_degraded")) as both:
        calls = {
            "update": lambda c: c.update("n", {"title": "t"}),
            "cancel": lambda c: c.jobs.cancel("j"),
            "upload": lambda c: c.imports.upload(b"x"),
            "confirm": lambda c: c.purge.confirm(PREVIEW),
            "sandbox key": lambda c: c.sandbox.keys.create(),
        }
        with pytest.raises(ServerError):
            both.run(calls[verb](both.client))
        assert len(both.seen) == 1


def test_what_was_refused_for_its_rate_has_had_no_effect(kind: str) -> None:
    """The limit is decided before anything is done, so any request may come again."""
    refused = problem(429, "rate_limit_exceeded", {"Retry-After": "1"})
    with Both(kind, handler=Answers(refused, refused, problem(503, "x"))) as both:
        with pytest.raises(ServerError):
            both.run(both.client.update("n", {"title": "t"}))
        assert both.slept == [1.25, 1.5]


def test_an_upload_that_was_refused_is_sent_again_from_its_begin(kind: str) -> None:
    file = io.BytesIO(b"behind" + b"the file" * 20_000)
    file.seek(6)
    busy = stubbed_problem(429, "rate_limit_exceeded")
    with Stub(busy, busy, answer(202, ACCEPTED)) as stub, Both(kind, KEY, stub.url, random=lambda: 0.0) as both:
        both.run(both.client.imports.upload(file, filename="f"))
    first, second, third = (request.partition(b"\r\n\r\n")[2] for request in stub.requests)
    assert first == second == third and first.count(b"the file") == 20_000 and b"behind" not in first
    assert not file.closed  # it is the caller's


def test_an_upload_that_cannot_be_read_again_is_sent_once(kind: str) -> None:
    class Pipe(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            return 0

    with Both(kind, handler=lambda r: problem(429, "rate_limit_exceeded")) as both:
        with pytest.raises(RateLimited):
            both.run(both.client.imports.upload(io.BufferedReader(Pipe()), filename="f"))
    assert len(both.seen) == 1 and both.seen[0].headers["transfer-encoding"] == "chunked"


def test_what_was_never_sent_may_be_sent(kind: str) -> None:
    """A connection that was refused has carried nothing."""
    job = {"id": "j"}
    with Both(kind, handler=Answers(httpx.ConnectError("refused"), httpx.ReadError("reset"), ok(job))) as both:
        with pytest.raises(ConnectionFailed, match="broke"):
            both.run(both.client.jobs.cancel("j"))
        assert len(both.seen) == 2


def test_many_retries_are_possible() -> None:
    answers = [httpx.ConnectError("no")] * 1200
    with Both("sync", handler=Answers(*answers, ok()), max_retries=2000, retry_budget=1e6) as both:
        both.client.search("x")
    assert max(both.slept) == 10


# Errors


def test_problem_becomes_an_error(kind: str) -> None:
    refused = problem(422, "validation_failed", errors=[{"field": "query", "message": "must not be empty"}], extra=1)
    with Both(kind, handler=Answers(refused)) as both, pytest.raises(BadRequest) as raised:
        both.run(both.client.search(""))
    why = raised.value
    assert (why.status, why.code, why.title, why.detail) == (422, "validation_failed", "Title", "Detail.")
    assert why.request_id == "req" and [(e.field, e.message) for e in why.errors] == [("query", "must not be empty")]
    assert why.problem["extra"] == 1
    assert "query: must not be empty" in str(why) and "Correct the request" in str(why) and "req" in str(why)


def test_the_services_own_advice_comes_first() -> None:
    refused = problem(403, "permission_denied", suggestedAction="Ask an admin.")
    with Both("sync", handler=Answers(refused)) as both, pytest.raises(ApiError, match=r"Ask an admin\."):
        both.client.search("x")


def test_a_long_error_is_not_read_to_its_end(kind: str) -> None:
    def forever() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 65536
        raise AssertionError("it was read to its end")

    async def forever_async() -> Any:
        for chunk in forever():
            yield chunk

    content: Any = forever_async() if kind == "async" else forever()
    with Both(kind, handler=lambda r: httpx.Response(500, content=content)) as both, pytest.raises(OrgmemError) as bad:
        both.run(both.client.search("x"))
    assert len(bad.value.body) == 64 << 10  # type: ignore[attr-defined]


def test_an_endless_answer_is_not_read_to_its_end(kind: str) -> None:
    chunk = b" " * (8 << 20)

    def forever() -> Iterator[bytes]:
        for _ in range(20):
            yield chunk
        raise AssertionError("it was read to its end")

    async def forever_async() -> Any:
        for part in forever():
            yield part

    content: Any = forever_async() if kind == "async" else forever()
    with Both(kind, handler=lambda r: httpx.Response(200, content=content)) as both:
        with pytest.raises(OrgmemError, match="longer than"):
            both.run(both.client.search("x"))


# Lists and waiting


def page(names: list[str], cursor: str | None) -> httpx.Response:
    data = [{"id": name, "createdAt": "2026-01-02T03:04:05Z"} for name in names]
    return ok({"data": data, "hasMore": cursor is not None, **({"nextCursor": cursor} if cursor else {})})


def test_a_list_is_all_pages(kind: str) -> None:
    with Both(kind, handler=Answers(page(["a", "b"], "c1"), page([], "c2"), page(["c"], None))) as both:
        assert [s.id for s in both.run(both.client.subjects.list(page_size=2))] == ["a", "b", "c"]
    assert [dict(r.url.params) for r in both.seen] == [
        {"pageSize": "2"},
        {"pageSize": "2", "cursor": "c1"},
        {"pageSize": "2", "cursor": "c2"},
    ]


def test_a_list_that_repeats_a_cursor_ends(kind: str) -> None:
    answers = [page(["a"], "c1"), page(["b"], "c2"), page(["c"], "c1")]
    with Both(kind, handler=Answers(*answers)) as both, pytest.raises(BadAnswer, match="'c1' came a second time"):
        both.run(both.client.subjects.list())
    assert len(both.seen) == 3


@pytest.mark.parametrize("verb", ["get_all", "delete_all", "history"])
def test_a_list_of_mem0_that_repeats_a_cursor_ends(kind: str, verb: str) -> None:
    calls: dict[str, Any] = {
        "get_all": lambda mem0: mem0.get_all(user_id="ann"),
        "delete_all": lambda mem0: mem0.delete_all(agent_id="bob"),
        "history": lambda mem0: mem0.history("n"),
    }
    answers = [page([], "c1"), page([], "c2"), page([], "c2")]
    with Both(kind, handler=Answers(*answers)) as both:
        mem0 = (AsyncMemory if kind == "async" else Memory)(both.client)
        with pytest.raises(BadAnswer, match="'c2' came a second time"):
            both.run(calls[verb](mem0))
    assert len(both.seen) == 3


def test_one_page(kind: str) -> None:
    with Both(kind, handler=Answers(page(["a"], "c1"), page(["b"], None))) as both:
        first = both.run(both.client.subjects.list().page())
        second = both.run(both.client.subjects.list().page(first.next_cursor))
    assert first.has_more and [s.id for s in second.data] == ["b"] and not second.has_more


def job(status: str, **fields: Any) -> httpx.Response:
    about = {"id": "j", "attempts": 1, "createdAt": "2026-01-02T03:04:05Z", "error": None, "finishedAt": None}
    about |= {"progress": {"done": 0, "total": 1}, "result": None, "startedAt": None, "subject": None}
    return ok({**about, "status": status, "type": "ingest", **fields})


def test_wait_polls_with_growing_pauses(kind: str) -> None:
    states = [job("queued")] * 3 + [job("running")] * 15 + [job("succeeded")]
    with Both(kind, handler=Answers(*states), monotonic=lambda: 0.0) as both:
        assert both.run(both.client.jobs.wait("j")).status == "succeeded"
    assert both.slept == sorted(both.slept) and both.slept[0] == 0.02 and both.slept[-1] == 5


def test_a_failed_job_is_an_error(kind: str) -> None:
    failed = job("failed", error={"code": "unreadable", "detail": "No text."})
    with Both(kind, handler=Answers(ok(ACCEPTED), job("running"), failed)) as both:
        with pytest.raises(JobFailed, match=r"unreadable: No text\.") as raised:
            both.run(both.client.add("a", wait=True))
    assert raised.value.job.id == "j"


def test_wait_ends(kind: str) -> None:
    now = iter(range(1000))
    with Both(kind, handler=lambda r: job("running"), monotonic=lambda: float(next(now))) as both:
        with pytest.raises(TimedOut, match=r"wait again with jobs\.wait"):
            both.run(both.client.jobs.wait("j", timeout=20))


def test_find_looks_again_where_a_node_has_just_gone(kind: str) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/nodes"):
            return ok({"data": nodes.pop(0), "hasMore": False})
        return problem(404, "node_not_found")

    node = example({"$ref": "#/components/schemas/Node"})
    nodes = [[node], []]
    with Both(kind, handler=handler) as both:
        assert both.run(both.client.find("cat")) is None
    assert [r.url.params.get("externalId") for r in both.seen] == ["cat", None, "cat"]


# Time


def test_a_try_has_a_time(kind: str) -> None:
    with Stub(None) as stub, Both(kind, KEY, stub.url, timeout=0.2, max_retries=1, retry_budget=1) as both:
        with pytest.raises(TimedOut, match=r"Raise timeout"):
            both.run(both.client.search("x"))
        assert len(stub.requests) == 2


def test_dripping_is_no_answer(kind: str) -> None:
    """Each byte comes in time, all of them never: the time is for the whole try."""

    def drip(connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
        for _ in range(500):  # then it is cut off, which is another error
            connection.sendall(b" ")
            time.sleep(0.01)

    with Stub(drip) as stub, Both(kind, KEY, stub.url, timeout=0.3, max_retries=0) as both, pytest.raises(TimedOut):
        both.run(both.client.search("x"))


def test_a_cancelled_task_ends_its_request_and_its_waiting() -> None:
    async def main() -> None:
        with Stub(None) as stub:
            async with AsyncOrgmem(KEY, stub.url) as client:
                asking = asyncio.create_task(client.search("x"))
                while not stub.requests:
                    await asyncio.sleep(0.01)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
        begun = asyncio.Event()

        async def sleep(seconds: float) -> None:
            begun.set()
            await asyncio.sleep(3600)

        unreachable = httpx.MockTransport(lambda r: problem(503, "x"))
        async with AsyncOrgmem(KEY, "http://127.0.0.1:1", transport=unreachable, sleep=sleep) as client:
            waiting = asyncio.create_task(client.search("x"))
            await begun.wait()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_deadline_around_a_call_is_the_callers() -> None:
    async def main() -> None:
        with Stub(None) as stub:
            async with AsyncOrgmem(KEY, stub.url) as client:
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.search("x"), 0.1)

    asyncio.run(main())


# Surface


def test_both_clients_have_the_same_verbs() -> None:
    def surface(client: Any) -> set[str]:
        names = set()
        for name in dir(client):
            if not name.startswith("_"):
                names.add(name)
                part = getattr(client, name)
                if hasattr(part, "_core"):
                    names |= {f"{name}.{inner}" for inner in surface(part)} if name != "subject" else set()
        return names

    with Orgmem(KEY, "http://127.0.0.1:1") as client:
        assert surface(client) == surface(AsyncOrgmem(KEY, "http://127.0.0.1:1"))


def test_verbs_tell_what_they_take() -> None:
    with Orgmem(KEY, "http://127.0.0.1:1") as client:
        assert list(inspect.signature(client.retrieve).parameters) == ["query", "top_k", "max_hops", "scope"]
        assert inspect.getdoc(client.search) and inspect.getdoc(client.subjects.list)
        with pytest.raises(TypeError, match="topk"):
            client.search("x", topk=3)  # type: ignore[call-arg]


def test_unknown_fields_and_values_are_kept() -> None:
    strange = job("paused", novelty={"a": 1})
    with Both("sync", handler=Answers(strange)) as both:
        got = both.client.jobs.get("j")
    assert got.status == "paused" and got.novelty == {"a": 1}
    assert got.created_at + timedelta(0) == datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
