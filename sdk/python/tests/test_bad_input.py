"""What a new user gets wrong: each is an error of its own type, with the next step in words, and soon."""

from __future__ import annotations

import asyncio
import pickle
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from both import KEY, KINDS, Both
from conftest import PATIENCE, Receiver, Server
from orgmem import (
    AsyncOrgmem,
    BadAnswer,
    ConnectionFailed,
    NotFound,
    Orgmem,
    OrgmemError,
    PermissionDenied,
    RateLimited,
    TimedOut,
    Unauthorized,
    _http,
)
from stub import Stub, answer, problem

PAGE = b"<!doctype html><html><title>Sign in</title></html>"
FOUND = {"results": [], "usage": {"readUnits": 1, "embedTokens": 1}}
# A retry more would show nothing more.
SOON: dict[str, Any] = {"max_retries": 2, "random": lambda: 0.0}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def raised(kind: str, url: str, error: type[OrgmemError], key: str = KEY, **options: Any) -> str:
    """What the error of a search says."""
    with Both(kind, key, url, **{**SOON, **options}) as both, pytest.raises(error) as why:
        both.run(both.client.search("x"))
    return str(why.value)


def test_wrong_key(kind: str, server: Server) -> None:
    said = raised(kind, server.url, Unauthorized)
    assert "401 authentication_error" in said and "ORGMEM_API_KEY" in said and server.url in said


def test_key_without_a_scope(kind: str, client: Orgmem, server: Server) -> None:
    key = client.keys.create("reader", scopes=["write"]).api_key
    assert "me() tells the scopes" in raised(kind, server.url, PermissionDenied, key)


def test_nobody_listens(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    said = raised(kind, url, ConnectionFailed)
    assert url in said and "ORGMEM_BASE_URL" in said and "Check that the service runs there" in said
    assert "the last of 3 tries" in said


def test_no_such_host(kind: str) -> None:
    said = raised(kind, "https://no-such-host.invalid", ConnectionFailed)
    assert "https://no-such-host.invalid" in said and "ORGMEM_BASE_URL" in said


def test_a_path_too_many(kind: str, client: Orgmem, server: Server) -> None:
    key = client.keys.create("k").api_key
    said = raised(kind, f"{server.url}/memory", NotFound, key)
    assert "base_url" in said and f"{server.url}/memory/v1/search" in said


def test_not_http(kind: str) -> None:
    with Stub(b"SSH-2.0-OpenSSH_9.6\r\n") as stub:
        assert "ORGMEM_BASE_URL" in raised(kind, stub.url, ConnectionFailed)


def test_tls_where_there_is_none(kind: str, server: Server) -> None:
    url = server.url.replace("http://", "https://")
    assert "base_url" in raised(kind, url, ConnectionFailed)


def test_a_certificate_that_is_not_trusted(kind: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"https://localhost:{receiver.port}"
    said = raised(kind, url, ConnectionFailed)
    assert "certificate" in said and "SSL_CERT_FILE" in said
    assert "tries" not in said  # trying again would not help
    monkeypatch.setenv("SSL_CERT_FILE", str(receiver.certificate))
    # It is reached now; what answers there knows no API.
    assert "is not the service's JSON" in raised(kind, url, OrgmemError)
    receiver.deliveries.get(timeout=30)  # the search, which is nothing for the tests of webhooks


def test_older_service_without_the_route(kind: str) -> None:
    with Stub(problem(404, "not_found", detail="There is no such route.")) as stub:
        said = raised(kind, stub.url, NotFound)
    assert "older than this client" in said and "Upgrade" in said


@pytest.mark.parametrize("status", [200, 401, 404, 500, 502])
def test_a_proxys_page(kind: str, status: int) -> None:
    with Stub(answer(status, PAGE, "text/html")) as stub:
        said = raised(kind, stub.url, BadAnswer)
        assert len(stub.requests) == (3 if status == 502 else 1)
    assert "text/html" in said and "Sign in" in said and "proxy" in said


def test_a_proxys_own_json(kind: str) -> None:
    with Stub(answer(403, {"message": "forbidden by policy"})) as stub:
        assert "forbidden by policy" in raised(kind, stub.url, BadAnswer)


def test_json_of_another_service(kind: str) -> None:
    with Stub(answer(200, {"hits": []})) as stub:
        said = raised(kind, stub.url, BadAnswer)
    assert "results" in said and "versions that fit" in said


def test_a_redirect_is_not_followed(kind: str) -> None:
    with Stub(answer(200, FOUND)) as other, Stub(answer(301, b"", "text/html", Location=other.url)) as stub:
        said = raised(kind, stub.url, BadAnswer)
        assert other.requests == []  # it would have got the key
    assert "redirects to" in said and "base_url" in said


def test_body_cut_off(kind: str) -> None:
    whole = answer(200, FOUND)
    with Stub(whole[:-5]) as stub:
        said = raised(kind, stub.url, BadAnswer)
        assert len(stub.requests) == 3
    assert "was cut off behind" in said and "Try again" in said


def test_body_cut_off_once(kind: str) -> None:
    whole = answer(200, FOUND)
    with Stub(whole[:-5], whole) as stub, Both(kind, KEY, stub.url, **SOON) as both:
        assert both.run(both.client.search("x")).results == []


def test_body_cut_off_where_nothing_says_so(kind: str) -> None:
    with Stub(b'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"results": [') as stub:
        assert "base_url" in raised(kind, stub.url, BadAnswer)


def test_head_cut_off(kind: str) -> None:
    with Stub(b"HTTP/1.1 200 OK\r\nContent-") as stub:
        assert "without an answer" in raised(kind, stub.url, ConnectionFailed)


def test_compressed_badly(kind: str) -> None:
    with Stub(answer(200, b"no gzip", Content_Encoding="gzip")) as stub:
        assert "unpacked" in raised(kind, stub.url, BadAnswer)


def test_unknown_subject(kind: str, client: Orgmem, server: Server) -> None:
    key = client.keys.create("k").api_key
    with Both(kind, key, server.url) as both, pytest.raises(PermissionDenied, match=r"subjects\.put") as why:
        both.run(both.client.subject("nobody").search("x"))
    assert why.value.code == "subject_not_provisioned"


def test_errors_come_back_from_another_process() -> None:
    with Stub(problem(429, "rate_limit_exceeded", detail="Too fast.")) as stub:
        with pytest.raises(RateLimited) as limited, Orgmem(KEY, stub.url, **SOON) as client:
            client.search("x")
    for error in (limited.value, ConnectionFailed("a", unsent=True), BadAnswer("b", status=502, cut_off=True)):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301
        assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)


# A hundred calls at once on one client


QUESTION = "who has the key of the boat house?"
HOLDERS = {None: "Mrs Okafor", "ann": "Ann Lind", "bob": "Bob Marsh"}


@pytest.fixture
def three_memories(client: Orgmem) -> Orgmem:
    """The key owner's memory and two subjects', each with another answer to the same question."""
    for subject, holder in HOLDERS.items():
        view = client
        if subject is not None:
            client.subjects.put(subject)
            view = client.subject(subject)
        view.add(f"{holder} has the key of the boat house.", wait=True)
    return client


def test_a_hundred_threads(three_memories: Orgmem) -> None:
    views = [three_memories, three_memories.subject("ann"), three_memories.subject("bob")]
    ready = threading.Barrier(100)

    def ask(i: int) -> str:
        ready.wait()
        return views[i % 3].search(QUESTION).results[0].chunk

    with ThreadPoolExecutor(100) as pool:
        found = list(pool.map(ask, range(100)))
    assert found == [f"{list(HOLDERS.values())[i % 3]} has the key of the boat house." for i in range(100)]


def test_a_hundred_tasks(three_memories: Orgmem, server: Server) -> None:
    key = three_memories.keys.create("k").api_key

    async def main() -> list[str]:
        async with AsyncOrgmem(key, server.url) as shared:
            views = [shared, shared.subject("ann"), shared.subject("bob")]
            found = await asyncio.gather(*(views[i % 3].search(QUESTION) for i in range(100)))
            return [answer.results[0].chunk for answer in found]

    assert asyncio.run(main()) == [
        f"{list(HOLDERS.values())[i % 3]} has the key of the boat house." for i in range(100)
    ]


def test_a_hundred_take_turns(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those behind wait for their turn, whichever subject they ask for."""
    monkeypatch.setattr(_http, "MOST_AT_ONCE", 3)
    under_way, entered = 0, 0
    lock, too_many = threading.Lock(), threading.Event()

    def handler(request: httpx.Request) -> httpx.Response:
        nonlocal under_way, entered
        with lock:
            under_way += 1
            entered += 1
            first = entered <= 3
            if under_way > 3:
                too_many.set()
        if first:
            too_many.wait(0.5)  # long enough for one of the 97 that are ready, if they could
        with lock:
            under_way -= 1
        return httpx.Response(200, json=FOUND)

    class Transport(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return await asyncio.to_thread(handler, request)

    async def all_async() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(100))
        async with AsyncOrgmem(KEY, "http://127.0.0.1:1", transport=Transport()) as shared:
            await asyncio.gather(*(shared.subject(f"s{i % 3}").search("x") for i in range(100)))

    if kind == "async":
        asyncio.run(all_async())
    else:
        with Orgmem(KEY, "http://127.0.0.1:1", transport=httpx.MockTransport(handler)) as shared:
            with ThreadPoolExecutor(100) as pool:
                list(pool.map(lambda i: shared.subject(f"s{i % 3}").search("x"), range(100)))
    assert entered == 100 and not too_many.is_set()


@pytest.mark.parametrize("upload", [False, True])
def test_waiting_for_a_turn_has_an_end_and_an_upload_takes_none(
    kind: str, upload: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call has the only turn; or an upload is under way, which leaves it to others."""
    monkeypatch.setattr(_http, "MOST_AT_ONCE", 1)
    patience = PATIENCE if upload else 0.1
    begun, go_on = threading.Event(), threading.Event()

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/search":
            return httpx.Response(200, json=FOUND)
        begun.set()
        assert go_on.wait(PATIENCE)
        return httpx.Response(200, json={"jobId": "j", "status": "pending"})

    class Transport(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return await asyncio.to_thread(handler, request)

    def first(client: Any) -> Any:
        if upload:
            return client.imports.upload(b"x", filename="f", timeout=PATIENCE)
        return client.add("x")

    async def all_async() -> None:
        async with AsyncOrgmem(KEY, "http://127.0.0.1:1", transport=Transport(), timeout=PATIENCE) as patient:
            hurried = patient.subject("ann")
            running = asyncio.create_task(first(patient))
            await asyncio.to_thread(begun.wait, PATIENCE)
            config = replace(patient._core.requests.config, timeout=patience)
            monkeypatch.setattr(hurried._core.requests, "config", config)
            try:
                await hurried.search("x")
            finally:
                go_on.set()
                await running
                await patient.search("x")  # the turn was given back

    def all_sync() -> None:
        with Orgmem(KEY, "http://127.0.0.1:1", transport=httpx.MockTransport(handler), timeout=PATIENCE) as patient:
            hurried = patient.subject("ann")
            with ThreadPoolExecutor(1) as pool:
                running = pool.submit(first, patient)
                assert begun.wait(PATIENCE)
                config = replace(patient._core.requests.config, timeout=patience)
                monkeypatch.setattr(hurried._core.requests, "config", config)
                try:
                    hurried.search("x")
                finally:
                    go_on.set()
                    running.result()
                    patient.search("x")

    def run() -> None:
        asyncio.run(all_async()) if kind == "async" else all_sync()

    if upload:
        run()
    else:
        with pytest.raises(TimedOut, match=r"no turn for 0\.1 s, and it was not sent"):
            run()


def test_a_hundred_at_a_service_that_is_down(kind: str) -> None:
    """None hangs, and all say the same."""
    with Stub(problem(503, "service_draining")) as stub, Both(kind, KEY, stub.url, **SOON) as both:

        def attempt() -> str:
            with pytest.raises(OrgmemError) as why:
                both.client.search("x")
            return str(why.value)

        async def attempt_async() -> str:
            with pytest.raises(OrgmemError) as why:
                await both.client.search("x")
            return str(why.value)

        async def all_async() -> list[str]:
            return list(await asyncio.gather(*(attempt_async() for _ in range(100))))

        if kind == "async":
            said = both.run(all_async())
        else:
            with ThreadPoolExecutor(100) as pool:
                said = [f.result() for f in [pool.submit(attempt) for _ in range(100)]]
        assert len(said) == 100 and all("try again later" in text for text in said)
