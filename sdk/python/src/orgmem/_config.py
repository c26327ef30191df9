"""What a client is made with."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from orgmem.errors import API_KEY_VARIABLE, BASE_URL_VARIABLE, OrgmemError

DEFAULT_BASE_URL = "http://127.0.0.1:8080"
VERSION = "0.1.0"


@dataclass(frozen=True)
class Config:
    """The settings of a client and the subjects' clients that come from it."""

    api_key: str
    base_url: str
    timeout: float
    max_retries: int
    retry_budget: float
    random: Callable[[], float]
    clock: Callable[[], float]  # wall clock, in seconds since 1970
    monotonic: Callable[[], float]

    @property
    def loopback(self) -> bool:
        return _is_loopback(urlsplit(self.base_url).hostname or "")


def configure(
    *,
    api_key: str | None,
    base_url: str | None,
    allow_insecure: bool,
    timeout: float,
    max_retries: int,
    retry_budget: float,
    random: Callable[[], float],
    clock: Callable[[], float],
    monotonic: Callable[[], float],
) -> Config:
    """Fills in from the environment, and refuses what could not work."""
    key = api_key if api_key is not None else os.environ.get(API_KEY_VARIABLE, "")
    key = key.strip()
    if not key:
        raise OrgmemError(
            f"There is no API key. Pass api_key, or set {API_KEY_VARIABLE}; after `orgmem serve --quickstart` it is in "
            "quickstart.key in the data directory."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise OrgmemError(
            f"The API key has characters that no key has. Check api_key (or {API_KEY_VARIABLE}) for a slip in copying."
        )
    address = (base_url if base_url is not None else os.environ.get(BASE_URL_VARIABLE, "")) or DEFAULT_BASE_URL
    address = address.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        _ = parts.port  # raises where it is no number
    except ValueError as why:
        raise _no_address(address, str(why)) from None
    if parts.scheme not in ("http", "https") or not host:
        raise _no_address(address, "it needs http:// or https://, and a host")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise _no_address(address, "it may have no user name, query or fragment")
    if parts.path.endswith("/v1"):
        raise _no_address(address, "leave the /v1 away, the client adds it")
    if parts.scheme == "http" and not _is_loopback(host) and not allow_insecure:
        raise OrgmemError(
            f"{address} is another machine over plain HTTP: the key could be read on the way. Use https://, or pass "
            "allow_insecure=True where the network between is yours."
        )
    if timeout <= 0 or max_retries < 0 or retry_budget < 0:
        raise ValueError("timeout must be above 0, max_retries and retry_budget not below it")
    return Config(key, address, timeout, max_retries, retry_budget, random, clock, monotonic)


def _no_address(address: str, why: str) -> OrgmemError:
    return OrgmemError(
        f"{address!r} is no address of a service: {why}. Set base_url (or {BASE_URL_VARIABLE}) to something like "
        f"{DEFAULT_BASE_URL}."
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
