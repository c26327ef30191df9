"""What can go wrong, as types. Every message ends with what to do next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orgmem.models import Job

# The variables that the constructor reads; messages name them.
API_KEY_VARIABLE = "ORGMEM_API_KEY"
BASE_URL_VARIABLE = "ORGMEM_BASE_URL"

MOST_ERROR_TEXT = 64 << 10  # bytes of an error's text that are looked at
MOST_EXCERPT = 200  # characters of a foreign answer that a message quotes


class OrgmemError(Exception):
    """The base of all errors of this package."""

    tries: int = 1  # how often the request was sent; after more than one an earlier try may have had its effect

    def __reduce__(self) -> tuple[Any, ...]:
        # As it is by default, an error with named arguments cannot come back from another process.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[OrgmemError], args: tuple[Any, ...], state: dict[str, Any]) -> OrgmemError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConnectionFailed(OrgmemError):
    """The service could not be reached, or the connection broke."""

    def __init__(self, message: str, *, unsent: bool = False, lasting: bool = False) -> None:
        super().__init__(message)
        self.unsent = unsent  # nothing of the request has reached the service
        self.lasting = lasting  # trying again will not help


class TimedOut(OrgmemError):
    """A try, or a wait, took longer than it may."""


class BadAnswer(OrgmemError):
    """What came back is not the service's answer: a proxy's page, or a body that was cut off."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        body: bytes = b"",
        cut_off: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = body[:MOST_ERROR_TEXT]
        self.cut_off = cut_off  # the connection ended in the middle of the body
        self.retry_after = retry_after


class BadSignature(OrgmemError):
    """A webhook's delivery was not signed with the secret, or not within the tolerance, or is no event."""


class JobFailed(OrgmemError):
    """A job that was waited for ended as failed or cancelled."""

    def __init__(self, message: str, job: Job) -> None:
        super().__init__(message)
        self.job = job


@dataclass(frozen=True)
class FieldError:
    """One field that a validation refused."""

    field: str
    message: str


class ApiError(OrgmemError):
    """The service answered with a problem."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        title: str = "",
        detail: str = "",
        request_id: str = "",
        errors: tuple[FieldError, ...] = (),
        retry_after: float | None = None,
        suggested_action: str = "",
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.request_id = request_id
        self.errors = errors
        self.retry_after = retry_after
        self.suggested_action = suggested_action
        self.problem = dict(problem or {})


class BadRequest(ApiError):
    """400, 413, 415, 422: the request is not what the service takes."""


class Unauthorized(ApiError):
    """401: the key is missing, wrong, revoked or expired."""


class PermissionDenied(ApiError):
    """403: the key may not do this, or not as this subject."""


class NotFound(ApiError):
    """404, 405: there is no such thing, or no such route."""


class Conflict(ApiError):
    """409, 412: the state of the thing does not allow it."""


class RateLimited(ApiError):
    """429: too many requests, or too many streams."""


class ServerError(ApiError):
    """5xx: the service failed, or cannot answer now."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: PermissionDenied,
    404: NotFound,
    405: NotFound,
    409: Conflict,
    412: Conflict,
    413: BadRequest,
    415: BadRequest,
    422: BadRequest,
    429: RateLimited,
}


def error_of(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    method: str,
    url: str,
    retry_after: float | None,
) -> OrgmemError:
    """The error that an answer with a status of 300 or more stands for."""
    problem = _problem(body)
    if problem is None:
        return foreign(status, headers, body, method=method, url=url, retry_after=retry_after)
    code, title, detail = (_text(problem, name) for name in ("code", "title", "detail"))
    action = _text(problem, "suggestedAction")
    fields = tuple(
        FieldError(_text(e, "field"), _text(e, "message"))
        for e in problem.get("errors") or ()
        if isinstance(e, Mapping)
    )
    request_id = _text(problem, "requestId") or headers.get("x-request-id", "")
    said = detail or title or f"status {status}"
    if fields:
        said += " (" + "; ".join(f"{f.field}: {f.message}" for f in fields[:5]) + ")"
    # The service does not know how this client is called: where that matters, its advice comes second.
    step = _own_step(status, code, url) or action or _next_step(status, code, method, url, retry_after)
    kind = _BY_STATUS.get(status) or (ServerError if status >= 500 else ApiError)
    return kind(
        f"{status} {code}: {said.rstrip('.')}. {step} [request {request_id}]",
        status=status,
        code=code,
        title=title,
        detail=detail,
        request_id=request_id,
        errors=fields,
        retry_after=retry_after,
        suggested_action=action,
        problem=problem,
    )


def foreign(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    method: str,
    url: str,
    retry_after: float | None = None,
) -> BadAnswer:
    """The error for an answer that the service did not write."""
    kind = headers.get("content-type", "").split(";")[0].strip() or "no type"
    excerpt = " ".join(body[: 4 * MOST_EXCERPT].decode("utf-8", "replace").split())[:MOST_EXCERPT]
    quoted = f" that begins with {excerpt!r}" if excerpt else ""
    location = headers.get("location")
    if location and 300 <= status < 400:
        step = (
            f"It redirects to {location}; this client follows no redirect, since that would hand the key on. "
            f"Set base_url (or {BASE_URL_VARIABLE}) to the address the service itself has."
        )
    else:
        step = (
            "That is not the service's JSON: a proxy, a sign-in page or another program answered. Check that "
            f"base_url (or {BASE_URL_VARIABLE}) is the service's own address, and what stands between."
        )
    return BadAnswer(
        f"{method} {url} was answered {status} with {kind}{quoted}. {step}",
        status=status,
        body=body,
        retry_after=retry_after,
    )


def _problem(body: bytes) -> dict[str, Any] | None:
    """The problem document that a body holds. What has no code is somebody else's JSON."""
    if len(body) > MOST_ERROR_TEXT:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("code"), str) else None


def _text(of: Mapping[str, Any], name: str) -> str:
    value = of.get(name)
    return value if isinstance(value, str) else ""


def _own_step(status: int, code: str, url: str) -> str:
    """What a person does about a problem with what this client was made with."""
    if status == 401:
        return (
            f"Check api_key (or {API_KEY_VARIABLE}): it is wrong, revoked, expired, or of another service than {url}."
        )
    if code == "subject_not_provisioned":
        return "Make the subject first, with subjects.put(id)."
    if code == "subject_not_supported":
        return "Call this without subject(…): it acts for the owner of the key."
    return ""


def _next_step(status: int, code: str, method: str, url: str, retry_after: float | None) -> str:
    """What a person does about a problem that suggests nothing itself."""
    if status == 403:
        return "Use a key that has the scope this needs; me() tells the scopes of the present one."
    if code == "not_found" or status == 405:
        return (
            f"If the id is right, the service at {url} has no {method} on this route: it is older than this client. "
            f"Upgrade it, or check that base_url (or {BASE_URL_VARIABLE}) has no path too many."
        )
    if status == 404:
        return "Check the id, and that it belongs to the memory (key, subject) that was asked."
    if status == 429:
        wait = f"{retry_after:g} s" if retry_after else "a moment"
        return f"Wait {wait}, or ask for a plan with a higher limit; max_retries and retry_budget bound the waiting."
    if status == 412:
        return "It was changed in the meantime: read it again, and repeat with its new etag."
    if status == 409:
        return "Read the present state, and decide anew."
    if status == 413:
        return "Send less at once: split the batch or the file."
    if status in (400, 415, 422):
        return "Correct the request; repeating it as it is will not help."
    if status in (502, 503, 504):
        return "The service cannot answer now: try again later."
    return "Try again later, and tell the operator the request id if it stays."
