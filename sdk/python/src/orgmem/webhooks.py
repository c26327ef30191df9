"""Checks the signature of a webhook's delivery. Needs no client, and no connection."""

from __future__ import annotations

import hashlib
import hmac
import time

from pydantic import AwareDatetime, ValidationError

from orgmem.errors import BadSignature
from orgmem.models import Metadata, Model

HEADER = "X-Svc-Signature"
TOLERANCE = 300.0  # seconds that a delivery's time may be from ours, in both directions
MOST_DIGITS = 12  # of a time in seconds
LONGEST_QUOTE = 300  # characters of a parser's complaint


class WebhookEvent(Model):
    """What a delivery says. One may come twice: remember the ids of some days."""

    id: str
    type: str
    created_at: AwareDatetime
    org_id: str
    data: Metadata


def verify(
    payload: bytes, header: str | None, secret: str, *, tolerance: float = TOLERANCE, now: float | None = None
) -> WebhookEvent:
    """The event of a delivery, if it was signed with the secret within the tolerance; else BadSignature, always.

    payload is the body as it came, byte for byte: JSON that was parsed and written again has another signature.
    """
    if not isinstance(payload, bytes | bytearray | memoryview):
        raise TypeError("payload must be the bytes of the body as they came, not text or parsed JSON")
    payload = bytes(payload)
    if not secret:
        raise BadSignature("There is no secret to check with. Give the one that webhooks.create answered.")
    stamp, signatures = "", []
    for part in (header or "").split(","):
        name, _, value = part.strip().partition("=")
        if name == "t":
            stamp = value
        elif name == "v1":
            signatures.append(value)
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= MOST_DIGITS) or not signatures:
        raise BadSignature(
            f"The header {(header or '')[:200]!r} is no signature. Pass the value of {HEADER} as it came; without one "
            "the delivery is not from the service."
        )
    # The whole secret is the key, whsec_ included.
    want = hmac.new(secret.encode(), stamp.encode() + b"." + payload, hashlib.sha256).hexdigest().encode()
    if not any(hmac.compare_digest(want, given.encode("utf-8", "replace")) for given in signatures):  # in constant time
        raise BadSignature(
            "The signature does not fit. Check that the secret is this endpoint's, and that payload is the raw body: "
            "parsed and written again it has another signature."
        )
    apart = (time.time() if now is None else now) - int(stamp)
    if abs(apart) > tolerance:
        how = "old" if apart > 0 else "ahead of this clock"
        raise BadSignature(
            f"The delivery is {abs(apart):.0f} s {how}, and {tolerance:g} s are tolerated. If it was not recorded and "
            "played again, this machine's clock and the service's are that far apart: set them by NTP."
        )
    try:
        return WebhookEvent.model_validate_json(payload)
    except ValidationError as why:
        first = why.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(p) for p in first["loc"]) or "the whole"
        raise BadSignature(
            f"The delivery is signed, and is no event that this client knows: {place}: {first['msg'][:LONGEST_QUOTE]}. "
            "Check that the secret is used for nothing else, and bring client and service to versions that fit "
            "each other."
        ) from why
