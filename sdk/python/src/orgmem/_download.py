"""Writes what is downloaded to a file, and goes on where it broke off."""

from __future__ import annotations

import hashlib
import os
from types import TracebackType
from typing import IO

import httpx

from orgmem._calls import Download
from orgmem.errors import BadAnswer

SUFFIX = ".part"  # of the file until it is whole


class Receipt:
    """The file of one download. It has its name only when all of it is there."""

    def __init__(self, step: Download) -> None:
        self._step = step
        self._part = step.target.with_name(step.target.name + SUFFIX)
        self._etag = ""
        self._hash = hashlib.sha256()
        self._got = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Receipt:
        self._file = open(self._part, "wb")
        return self

    def __exit__(self, kind: type[BaseException] | None, why: BaseException | None, _: TracebackType | None) -> None:
        assert self._file is not None  # noqa: S101
        self._file.close()
        if kind is not None:
            self._part.unlink(missing_ok=True)

    def headers(self) -> dict[str, str]:
        """Asks for the rest, if the document is still the same."""
        # Compressed, the offsets of a range would not be those of the document.
        headers = {"Accept-Encoding": "identity"}
        if self._got and self._etag:
            headers |= {"Range": f"bytes={self._got}-", "If-Range": self._etag}
        return headers

    def begin(self, response: httpx.Response) -> None:
        """An answer has begun: the rest, or all of it anew."""
        assert self._file is not None  # noqa: S101
        if response.status_code != 206:
            self._file.seek(0)
            self._file.truncate()
            self._hash = hashlib.sha256()
            self._got = 0
        self._etag = response.headers.get("etag", "")

    def write(self, chunk: bytes) -> None:
        assert self._file is not None  # noqa: S101
        self._file.write(chunk)
        self._hash.update(chunk)
        self._got += len(chunk)
        if self._step.on_progress is not None:
            self._step.on_progress(self._got, self._step.length)

    def finish(self) -> None:
        """All has come. Is it the document?"""
        assert self._file is not None  # noqa: S101
        if self._step.sha256 is not None and self._hash.hexdigest() != self._step.sha256:
            raise BadAnswer(
                f"The {self._got} bytes that came are not the export: their SHA-256 is {self._hash.hexdigest()}, that "
                f"of the export {self._step.sha256}. Download it again; look at proxies between if it stays."
            )
        self._file.close()
        os.replace(self._part, self._step.target)
