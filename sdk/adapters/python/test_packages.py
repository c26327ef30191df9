"""What holds for all Python adapters."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import orgmem
import pytest
from orgmem.adapters.clients import Clients
from orgmem_langchain import OrgmemRetriever as LangChainRetriever
from orgmem_langgraph import OrgmemStore
from orgmem_llamaindex import OrgmemRetriever as LlamaIndexRetriever
from orgmem_openai_agents import OrgmemSession

HERE = Path(__file__).resolve().parent
PACKAGES = sorted(p.parent for p in HERE.glob("orgmem-*/pyproject.toml"))


def sources(package: Path) -> Path:
    return next((package / "src").iterdir())


@pytest.mark.parametrize("subject", [None, "ann"])
def test_each_event_loop_has_a_client_of_its_own(subject: str | None) -> None:
    """Also where loops take turns, as those of several threads do."""
    clients = Clients(api_key="svc_prod_" + "k" * 43, base_url="http://127.0.0.1:1", subject=subject)

    async def http() -> httpx.AsyncClient:
        client = clients._async_client()
        assert client is not None and client._core.requests.subject == subject
        return client._core.http

    loops = [asyncio.new_event_loop() for _ in range(3)]
    first = [loop.run_until_complete(http()) for loop in loops]
    assert [loop.run_until_complete(http()) for loop in loops] == first and len(set(first)) == 3
    loops[0].close()
    loops.append(asyncio.new_event_loop())
    assert loops[3].run_until_complete(http()) not in first
    assert list(clients._of_loops) == loops[1:], "that of a loop that has ended is not kept"
    loops[1].run_until_complete(clients.aclose())
    assert [client.is_closed for client in first] == [False, True, False]
    assert clients._client is not None and clients._client._core.http.is_closed
    for loop in loops[2:]:
        loop.run_until_complete(clients.aclose())
    for loop in loops[1:]:
        loop.close()


async def test_what_was_passed_is_not_closed() -> None:
    async with orgmem.AsyncOrgmem("svc_prod_" + "k" * 43, "http://127.0.0.1:1") as passed:
        session, store = OrgmemSession("s", async_client=passed), OrgmemStore(async_client=passed)
        await session.aclose()
        await store.aclose()
        assert not passed._core.http.is_closed


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_the_types_are_strict(package: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=package, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert (sources(package) / "py.typed").exists()


async def _session(**options: Any) -> Any:
    return await OrgmemSession("s", **options).get_items()


async def _store(**options: Any) -> Any:
    return OrgmemStore(**options).search((), query="x")


async def _langchain(**options: Any) -> Any:
    return await LangChainRetriever(**options).ainvoke("x")


async def _llamaindex(**options: Any) -> Any:
    return LlamaIndexRetriever(**options).retrieve("x")


ADAPTERS = pytest.mark.parametrize("use", [_session, _store, _langchain, _llamaindex])


@ADAPTERS
async def test_a_wrong_key_is_named(server: Any, use: Any) -> None:
    with pytest.raises(orgmem.Unauthorized, match="ORGMEM_API_KEY"):
        await use(api_key="svc_prod_" + "x" * 43, base_url=server.url)


@ADAPTERS
async def test_a_subject_that_was_never_made_is_named(server: Any, key: str, use: Any) -> None:
    with pytest.raises(orgmem.PermissionDenied, match=r"subjects\.put"):
        await use(api_key=key, base_url=server.url, subject="nobody")


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    """Something that answers everything with a page of its own, as a sign-in page does."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html>Please sign in</html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as answering:
        thread = threading.Thread(target=answering.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{answering.server_port}"
        answering.shutdown()
        thread.join()


@ADAPTERS
async def test_a_proxys_page_is_no_answer(proxy: str, key: str, use: Any) -> None:
    with pytest.raises(orgmem.BadAnswer, match="base_url"):
        await use(api_key=key, base_url=proxy)
