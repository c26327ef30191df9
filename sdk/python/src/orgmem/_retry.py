"""Whether, and when, a request is sent again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from orgmem.errors import ApiError, BadAnswer, ConnectionFailed, OrgmemError, RateLimited, TimedOut

FIRST_PAUSE = 0.25  # seconds; doubles from try to try
LONGEST_PAUSE = 10.0
MOST_DOUBLINGS = 16  # far beyond the longest pause, far below the largest number
# Statuses of a service, or a proxy, that may have another answer in a moment.
PASSING = frozenset({408, 429, 502, 503, 504})


class Tries:
    """The tries of one call. pause says how long to wait for the next, or raises the failure."""

    def __init__(
        self, *, most: int, budget: float, repeatable: bool, resendable: bool, random: Callable[[], float]
    ) -> None:
        self._most = most
        self._budget = budget
        self._repeatable = repeatable
        self._resendable = resendable
        self._random = random
        self._made = 0

    def pause(self, failure: OrgmemError) -> float:
        self._made += 1
        if not self._may_pass(failure) or self._made > self._most:
            raise self._final(failure)
        # Full jitter: those that failed together do not come back together.
        pause = self._random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._made - 1, MOST_DOUBLINGS))
        pause += retry_after_of(failure) or 0.0
        if pause > self._budget:
            raise self._final(failure)
        self._budget -= pause
        return pause

    def _may_pass(self, failure: OrgmemError) -> bool:
        if isinstance(failure, ConnectionFailed) and (failure.unsent or failure.lasting):
            return not failure.lasting  # nothing of it has reached the service
        if isinstance(failure, RateLimited) and self._resendable:
            return True  # the limit is looked at before anything is done
        if not self._repeatable:
            return False
        if isinstance(failure, ConnectionFailed | TimedOut):
            return True
        if isinstance(failure, ApiError):
            return failure.status in PASSING or (failure.status == 409 and failure.code == "idempotency_in_progress")
        return isinstance(failure, BadAnswer) and (failure.cut_off or failure.status in PASSING)

    def _final(self, failure: OrgmemError) -> OrgmemError:
        failure.tries = self._made
        if self._made > 1:
            failure.args = (f"{failure} [the last of {self._made} tries]",)
        return failure


def retry_after_of(failure: OrgmemError) -> float | None:
    """The seconds that an answer asks to wait."""
    return failure.retry_after if isinstance(failure, ApiError | BadAnswer) else None


def read_retry_after(value: str | None, now: float) -> float | None:
    """The seconds that a Retry-After header names, as a number or as a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = parsedate_to_datetime(value)
        except ValueError:
            return None
        if then.tzinfo is None:
            then = then.replace(tzinfo=timezone.utc)
        seconds = (then - datetime.fromtimestamp(now, timezone.utc)).total_seconds()
    return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None
