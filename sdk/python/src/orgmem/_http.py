"""Carries out calls: retries, limits, and errors from what httpx raises.

SyncCore and AsyncCore say the same twice, once with await; what they decide is in
functions that both use.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
import sys
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlencode

import httpx
from pydantic import ValidationError

from orgmem._calls import Answer, AsyncPages, Call, Download, Now, Pages, Pause, Step, Steps
from orgmem._config import VERSION, Config
from orgmem._download import Receipt
from orgmem._retry import Tries, read_retry_after
from orgmem.errors import (
    BASE_URL_VARIABLE,
    MOST_ERROR_TEXT,
    BadAnswer,
    ConnectionFailed,
    OrgmemError,
    TimedOut,
    error_of,
    foreign,
)

T = TypeVar("T")

MOST_ANSWER = 64 << 20  # bytes of an answer, but for a download
# Calls under way at a time, but for uploads, which take minutes. Those behind wait for as long as a try may take, which
# costs their own try nothing. The pool looks at all of its connections for each request: with a hundred a request costs
# half as much again as with these.
MOST_AT_ONCE = 32
MOST_CONNECTIONS = 100  # with those of streams and downloads
IDLE_CONNECTIONS = MOST_AT_ONCE
IDLE_SECONDS = 30.0  # below the service's own, so that it is not the service that closes first
LONGEST_QUOTE = 300  # characters of a parser's complaint

_address = functools.lru_cache(maxsize=512)(httpx.URL)  # parsing one costs a tenth of a request


def limits() -> httpx.Limits:
    return httpx.Limits(
        max_connections=MOST_CONNECTIONS, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=IDLE_SECONDS
    )


class Requests:
    """Makes the requests of one client: its address, key and subject."""

    def __init__(self, config: Config, subject: str | None = None) -> None:
        self.config = config
        self.subject = subject
        self._headers = {
            "Accept": "application/json",
            "User-Agent": f"orgmem-python/{VERSION}",
            "X-Svc-API-Key": config.api_key,
        }
        if subject == "":
            raise ValueError("the subject's id is empty: leave subject(…) out to act for the owner of the key")
        if subject is not None:
            self._headers["X-Svc-Subject"] = quote(subject, safe="")

    def url(self, path: str, query: Any = None) -> str:
        if query:
            pairs = {k: _text(v) for k, v in query.items() if v is not None}
            if pairs:
                return f"{self.config.base_url}{path}?{urlencode(pairs)}"
        return f"{self.config.base_url}{path}"

    def request(self, call: Call[Any]) -> httpx.Request:
        """The request of a call, the same for all its tries."""
        headers = {**self._headers, **call.headers} if call.headers else dict(self._headers)
        if call.key is not None:
            headers["Idempotency-Key"] = call.key or str(uuid.uuid4())
        url = _address(self.url(call.path, call.query))
        content = call.body
        if content is not None:
            headers["Content-Type"] = "application/json"
        elif call.form is not None:
            headers["Content-Type"] = call.form.content_type
            length = call.form.length
            headers |= {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
            headers["Host"] = url.netloc.decode()  # httpx adds none to a stream
        timeout = call.timeout or self.config.timeout
        return httpx.Request(
            call.method,
            url,
            headers=headers,
            content=content,
            stream=call.form,
            extensions={"timeout": _timeouts(timeout)},
        )

    def stream_request(self, path: str, headers: dict[str, str]) -> httpx.Request:
        """A request whose answer comes bit by bit: each bit within the timeout, and all of it whenever it is ready."""
        return httpx.Request(
            "GET",
            _address(self.url(path)),
            headers={**self._headers, **headers},
            extensions={"timeout": _timeouts(self.config.timeout)},
        )

    def tries(self, call: Call[Any]) -> Tries:
        c = self.config
        return Tries(
            most=c.max_retries,
            budget=c.retry_budget,
            resendable=call.form is None or call.form.can_be_sent_again,
            repeatable=call.repeatable or call.key is not None or call.method in ("GET", "PUT", "DELETE"),
            random=c.random,
        )

    def failure(self, response: httpx.Response, body: bytes) -> OrgmemError:
        """The error of an answer with a status of 300 or more."""
        return error_of(
            response.status_code,
            response.headers,
            body,
            method=response.request.method,
            url=str(response.request.url),
            retry_after=read_retry_after(response.headers.get("retry-after"), self.config.clock()),
        )


def _timeouts(seconds: float) -> dict[str, float | None]:
    return {"connect": seconds, "read": seconds, "write": seconds, "pool": seconds}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


@contextmanager
def translated(request: httpx.Request, seconds: float) -> Iterator[None]:
    """Turns what httpx raises into this package's errors."""
    try:
        yield
    except httpx.HTTPError as why:
        raise error_from(why, request, seconds) from why


def error_from(why: httpx.HTTPError, request: httpx.Request, seconds: float) -> OrgmemError:
    origin = f"{request.url.scheme}://{request.url.netloc.decode()}"
    check = f"Check that the service runs there, and base_url (or {BASE_URL_VARIABLE})."
    if isinstance(why, httpx.ConnectTimeout):
        return ConnectionFailed(f"{origin} did not take the connection within {seconds:g} s. {check}", unsent=True)
    if isinstance(why, httpx.PoolTimeout):
        return TimedOut(
            f"All {MOST_CONNECTIONS} connections of this client were taken for {seconds:g} s. Send less at a time."
        )
    if isinstance(why, httpx.TimeoutException):
        return late(request, seconds)
    if isinstance(why, httpx.ConnectError) and _is_untrusted(why):
        return ConnectionFailed(
            f"The certificate of {origin} is not trusted: {_said(why)}. If it is from an authority of your own, name "
            "its file in SSL_CERT_FILE; else this may not be the service at all.",
            unsent=True,
            lasting=True,
        )
    if isinstance(why, httpx.ConnectError):
        return ConnectionFailed(f"{origin} could not be reached: {_said(why)}. {check}", unsent=True)
    if isinstance(why, httpx.UnsupportedProtocol | httpx.ProxyError):
        return ConnectionFailed(f"{origin} could not be reached: {_said(why)}. {check}", unsent=True)
    if isinstance(why, httpx.DecodingError):
        return BadAnswer(
            f"The answer of {origin} could not be unpacked: {_said(why)}. Something between changed it; look at what "
            "proxies do there."
        )
    if isinstance(why, httpx.RemoteProtocolError):
        return ConnectionFailed(
            f"{origin} ended the connection without an answer: {_said(why)}. It may be restarting, or speak another "
            f"protocol than HTTP. {check}"
        )
    return ConnectionFailed(f"The connection to {origin} broke: {_said(why)}. Try again; {check[0].lower()}{check[1:]}")


def _is_untrusted(why: BaseException | None) -> bool:
    """Whether it was the other side's certificate. httpx has no error of its own for that."""
    while why is not None:
        if isinstance(why, ssl.SSLCertVerificationError):
            return True
        why = why.__cause__ or why.__context__
    return False


def _said(why: Exception) -> str:
    return str(why).rstrip(".") or type(why).__name__


def late(request: httpx.Request, seconds: float) -> TimedOut:
    return TimedOut(
        f"{request.method} {request.url} had no answer within {seconds:g} s. Raise timeout if it may take longer, or "
        "look at the service's load."
    )


def no_turn(seconds: float) -> TimedOut:
    return TimedOut(
        f"The {MOST_AT_ONCE} calls that this client makes at a time left this one no turn for {seconds:g} s, and it "
        "was not sent. Send less at a time, raise timeout, or look at the service's load."
    )


def untaken() -> None:
    """Gives back the turn of a call that takes none."""


def cut_off(request: httpx.Request, why: Exception, got: int) -> BadAnswer:
    return BadAnswer(
        f"The answer to {request.method} {request.url} was cut off behind {got} bytes: {_said(why)}. Try again; if it "
        "stays, look at the service's log and at proxies between.",
        cut_off=True,
    )


def too_long(request: httpx.Request) -> BadAnswer:
    return BadAnswer(
        f"The answer to {request.method} {request.url} is longer than {MOST_ANSWER} bytes, and was not read. Ask for "
        "less at once (page_size, top_k), or check what answers there."
    )


def most_of(response: httpx.Response) -> int:
    """How many bytes of an answer are read."""
    return MOST_ANSWER if response.status_code < 300 else MOST_ERROR_TEXT


def result_of(requests: Requests, call: Call[T], request: httpx.Request, response: httpx.Response, body: bytes) -> T:
    """What a whole answer says."""
    if response.status_code >= 300:
        raise requests.failure(response, body)
    try:
        return call.parse(Answer(response.status_code, response.headers, body))
    except ValidationError as why:
        raise unreadable(request, response, body, why) from None


def unreadable(request: httpx.Request, response: httpx.Response, body: bytes, why: ValidationError) -> BadAnswer:
    url = str(request.url)
    first = why.errors(include_url=False, include_input=False)[0]
    if first["type"] != "json_invalid" and "json" in response.headers.get("content-type", ""):
        place = ".".join(str(p) for p in first["loc"]) or "the whole"
        return BadAnswer(
            f"The answer to {request.method} {url} is not what this client knows: {place}: "
            f"{first['msg'][:LONGEST_QUOTE]}. Bring client and service to versions that fit each other.",
            status=response.status_code,
            body=body,
        )
    return foreign(response.status_code, response.headers, body, method=request.method, url=url)


def beginning(response: httpx.Response) -> bytes:
    """As much of an answer as an error looks at."""
    body = b""
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MOST_ERROR_TEXT:
            break
    return body


async def beginning_async(response: httpx.Response) -> bytes:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MOST_ERROR_TEXT:
            break
    return body


def secure(config: Config) -> dict[str, Any]:
    """What httpx needs to know of proxies and certificates."""
    if not config.loopback:
        return {"trust_env": True}
    # A proxy would hand the key of this machine to another. Certificates are the environment's all the same; over plain
    # HTTP none are needed, and reading all of the system's takes longer than a request.
    verify = httpx.create_ssl_context() if config.base_url.startswith("https:") else False
    return {"trust_env": False, "verify": verify}


class SyncCore:
    """Carries out calls on the caller's thread. Any number of threads may share one."""

    def __init__(self, http: httpx.Client, requests: Requests, sleep: Callable[[float], None]) -> None:
        self.http = http
        self.requests = requests
        self.sleep = sleep
        self._turns = threading.BoundedSemaphore(MOST_AT_ONCE)

    def acting_as(self, subject: str) -> SyncCore:
        view = SyncCore(self.http, Requests(self.requests.config, subject), self.sleep)
        view._turns = self._turns
        return view

    def pages(self, call: Call[Any]) -> Pages[Any]:
        return Pages(self, call)

    def run(self, work: Call[Any] | Steps[Any]) -> Any:
        if isinstance(work, Call):
            return self._call(work)
        try:
            step = next(work)
            while True:
                try:
                    value = self._step(step)
                except BaseException as failure:
                    step = work.throw(failure)
                else:
                    step = work.send(value)
        except StopIteration as end:
            return end.value

    def _step(self, step: Step) -> Any:
        if isinstance(step, Call):
            return self._call(step)
        if isinstance(step, Pause):
            return self.sleep(step.seconds)
        if isinstance(step, Now):
            return self.requests.config.monotonic()
        return self._download(step)

    def _call(self, call: Call[T]) -> T:
        request = self.requests.request(call)
        tries = self.requests.tries(call)
        try:
            while True:
                give_back = self._turn(call)
                try:
                    return self._try(call, request)
                except OrgmemError as failure:
                    pause = tries.pause(failure)
                finally:
                    give_back()
                self.sleep(pause)
        finally:
            if call.form is not None:
                call.form.close()

    def _turn(self, call: Call[Any]) -> Callable[[], None]:
        """Waits for a turn, and returns what gives it back."""
        if call.form is not None:
            return untaken
        seconds = call.timeout or self.requests.config.timeout
        if not self._turns.acquire(timeout=min(seconds, threading.TIMEOUT_MAX)):
            raise no_turn(seconds)
        return self._turns.release

    def _try(self, call: Call[T], request: httpx.Request) -> T:
        seconds = call.timeout or self.requests.config.timeout
        monotonic = self.requests.config.monotonic
        deadline = monotonic() + seconds
        try:
            response = self.http.send(request, stream=True)
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        chunks: list[bytes] = []
        got = 0
        try:
            most = most_of(response)
            for chunk in response.iter_bytes():
                got += len(chunk)
                chunks.append(chunk)
                if got > most:
                    if response.status_code < 300:
                        raise too_long(request)
                    break
                if monotonic() > deadline:
                    raise late(request, seconds)
        except httpx.TimeoutException as why:
            raise late(request, seconds) from why
        except httpx.TransportError as why:
            raise cut_off(request, why, got) from why
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        finally:
            response.close()
        return result_of(self.requests, call, request, response, b"".join(chunks))

    def _download(self, step: Download) -> None:
        receipt = Receipt(step)
        call: Call[None] = Call("GET", step.path, lambda _: None)
        tries = self.requests.tries(call)
        config = self.requests.config
        with receipt:
            while True:
                request = self.requests.stream_request(step.path, receipt.headers())
                try:
                    with translated(request, config.timeout):
                        response = self.http.send(request, stream=True)
                    try:
                        if response.status_code >= 300:
                            with translated(request, config.timeout):
                                body = beginning(response)
                            raise self.requests.failure(response, body)
                        receipt.begin(response)
                        with translated(request, config.timeout):
                            for chunk in response.iter_bytes():
                                receipt.write(chunk)
                        return receipt.finish()
                    finally:
                        response.close()
                except OrgmemError as failure:
                    pause = tries.pause(failure)
                self.sleep(pause)


class AsyncCore:
    """Carries out calls in the caller's task."""

    def __init__(self, http: httpx.AsyncClient, requests: Requests, sleep: Callable[[float], Awaitable[None]]) -> None:
        self.http = http
        self.requests = requests
        self.sleep = sleep
        self._turns = asyncio.BoundedSemaphore(MOST_AT_ONCE)

    def acting_as(self, subject: str) -> AsyncCore:
        view = AsyncCore(self.http, Requests(self.requests.config, subject), self.sleep)
        view._turns = self._turns
        return view

    def pages(self, call: Call[Any]) -> AsyncPages[Any]:
        return AsyncPages(self, call)

    async def run(self, work: Call[Any] | Steps[Any]) -> Any:
        if isinstance(work, Call):
            return await self._call(work)
        try:
            step = next(work)
            while True:
                try:
                    value = await self._step(step)
                except BaseException as failure:
                    step = work.throw(failure)
                else:
                    step = work.send(value)
        except StopIteration as end:
            return end.value

    async def _step(self, step: Step) -> Any:
        if isinstance(step, Call):
            return await self._call(step)
        if isinstance(step, Pause):
            return await self.sleep(step.seconds)
        if isinstance(step, Now):
            return self.requests.config.monotonic()
        return await self._download(step)

    async def _call(self, call: Call[T]) -> T:
        request = self.requests.request(call)
        tries = self.requests.tries(call)
        seconds = call.timeout or self.requests.config.timeout
        try:
            while True:
                give_back = await self._turn(call, seconds)
                try:
                    return await within(seconds, self._try(call, request, seconds), lambda: late(request, seconds))
                except OrgmemError as failure:
                    pause = tries.pause(failure)
                finally:
                    give_back()
                await self.sleep(pause)
        finally:
            if call.form is not None:
                call.form.close()

    async def _turn(self, call: Call[Any], seconds: float) -> Callable[[], None]:
        """Waits for a turn, and returns what gives it back."""
        if call.form is not None:
            return untaken
        await within(seconds, self._turns.acquire(), lambda: no_turn(seconds))
        return self._turns.release

    async def _try(self, call: Call[T], request: httpx.Request, seconds: float) -> T:
        try:
            response = await self.http.send(request, stream=True)
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        chunks: list[bytes] = []
        got = 0
        try:
            most = most_of(response)
            async for chunk in response.aiter_bytes():
                got += len(chunk)
                chunks.append(chunk)
                if got > most:
                    if response.status_code < 300:
                        raise too_long(request)
                    break
        except httpx.TimeoutException as why:
            raise late(request, seconds) from why
        except httpx.TransportError as why:
            raise cut_off(request, why, got) from why
        except httpx.HTTPError as why:
            raise error_from(why, request, seconds) from why
        finally:
            await response.aclose()
        return result_of(self.requests, call, request, response, b"".join(chunks))

    async def _download(self, step: Download) -> None:
        receipt = Receipt(step)
        call: Call[None] = Call("GET", step.path, lambda _: None)
        tries = self.requests.tries(call)
        config = self.requests.config
        with receipt:
            while True:
                request = self.requests.stream_request(step.path, receipt.headers())
                try:
                    with translated(request, config.timeout):
                        response = await self.http.send(request, stream=True)
                    try:
                        if response.status_code >= 300:
                            with translated(request, config.timeout):
                                body = await beginning_async(response)
                            raise self.requests.failure(response, body)
                        receipt.begin(response)
                        with translated(request, config.timeout):
                            async for chunk in response.aiter_bytes():
                                receipt.write(chunk)
                        return receipt.finish()
                    finally:
                        await response.aclose()
                except OrgmemError as failure:
                    pause = tries.pause(failure)
                await self.sleep(pause)


async def within(seconds: float, work: Awaitable[T], too_late: Callable[[], TimedOut]) -> T:
    """Awaits something, for so long in all."""
    try:
        if sys.version_info >= (3, 11):
            async with asyncio.timeout(seconds):
                return await work
        else:
            return cast(T, await asyncio.wait_for(work, seconds))
    except asyncio.TimeoutError as why:
        raise too_late() from why
