"""Client of the orgmem memory service.

    from orgmem import Orgmem

    memory = Orgmem()
    memory.add("Mrs Okafor serviced the boiler in May.", wait=True)
    print(memory.search("who looked after the heating?").results[0].chunk)

Orgmem is for threads, AsyncOrgmem for asyncio; both have the same verbs.
"""

from orgmem._calls import AsyncPages, Pages
from orgmem._config import VERSION as __version__
from orgmem.client import AsyncOrgmem, Orgmem
from orgmem.errors import (
    ApiError,
    BadAnswer,
    BadRequest,
    BadSignature,
    Conflict,
    ConnectionFailed,
    FieldError,
    JobFailed,
    NotFound,
    OrgmemError,
    PermissionDenied,
    RateLimited,
    ServerError,
    TimedOut,
    Unauthorized,
)
from orgmem.events import AsyncEventStream, Event, EventStream, Gap
from orgmem.models import IngestItem, NodePatch, Page, SearchFilters, SessionEvent
from orgmem.webhooks import WebhookEvent

__all__ = [
    "ApiError",
    "AsyncEventStream",
    "AsyncOrgmem",
    "AsyncPages",
    "BadAnswer",
    "BadRequest",
    "BadSignature",
    "Conflict",
    "ConnectionFailed",
    "Event",
    "EventStream",
    "FieldError",
    "Gap",
    "IngestItem",
    "JobFailed",
    "NodePatch",
    "NotFound",
    "Orgmem",
    "OrgmemError",
    "Page",
    "Pages",
    "PermissionDenied",
    "RateLimited",
    "SearchFilters",
    "ServerError",
    "SessionEvent",
    "TimedOut",
    "Unauthorized",
    "WebhookEvent",
    "__version__",
]
