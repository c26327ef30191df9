"""A multipart form with one file, sent as it is read."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import httpx

CHUNK = 64 << 10  # bytes read from the file at a time
MOST_FILENAME = 255

# What can be uploaded: the path of a file, its bytes, or a file that is open for reading.
Source = str | os.PathLike[str] | bytes | BinaryIO
Progress = Callable[[int, int | None], None]


class Form(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an upload."""

    def __init__(
        self,
        source: Source,
        *,
        field: str,
        filename: str | None,
        fields: Mapping[str, str],
        on_progress: Progress | None,
    ) -> None:
        self._owned = False
        if isinstance(source, bytes):
            self._file: BinaryIO = io.BytesIO(source)
        elif isinstance(source, str | os.PathLike):
            self._file = open(source, "rb")  # noqa: SIM115 (closed when it has been sent)
            self._owned = True
            filename = filename or Path(source).name
        else:
            self._file = source
            name = getattr(source, "name", None)
            filename = filename or (Path(name).name if isinstance(name, str) else None)
        self._on_progress = on_progress
        self._boundary = uuid.uuid4().hex
        self._head = b"".join(self._part(name, value) for name, value in fields.items())
        self._head += self._part_head(field, filename or "upload") + b"Content-Type: application/octet-stream\r\n\r\n"
        self._tail = f"\r\n--{self._boundary}--\r\n".encode()
        self._begin, self._size = _extent(self._file)

    @property
    def content_type(self) -> str:
        return f"multipart/form-data; boundary={self._boundary}"

    @property
    def length(self) -> int | None:
        """The bytes of the whole form; None where the file does not say how long it is."""
        return None if self._size is None else len(self._head) + self._size + len(self._tail)

    @property
    def can_be_sent_again(self) -> bool:
        return self._begin is not None

    def __iter__(self) -> Iterator[bytes]:
        if self._begin is not None:
            self._file.seek(self._begin)
        yield self._head
        sent = 0
        while chunk := self._file.read(CHUNK):
            yield chunk
            # The next piece is asked for when this one is on its way.
            sent += len(chunk)
            if self._on_progress is not None:
                self._on_progress(sent, self._size)
        yield self._tail

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk

    def close(self) -> None:
        if self._owned:
            self._file.close()

    async def aclose(self) -> None:
        self.close()

    def _part_head(self, name: str, filename: str | None = None) -> bytes:
        head = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{name}"'
        if filename is not None:
            head += f'; filename="{_quoted(filename[-MOST_FILENAME:])}"'
        return head.encode() + b"\r\n"

    def _part(self, name: str, value: str) -> bytes:
        return self._part_head(name) + b"\r\n" + value.encode() + b"\r\n"


def _quoted(filename: str) -> str:
    """As the HTML standard says for the names of files in a form."""
    return filename.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _extent(file: BinaryIO) -> tuple[int | None, int | None]:
    """Where a file begins, and how long it is from there; nothing of one that is read only once."""
    try:
        here = file.tell()
        end = file.seek(0, os.SEEK_END)
        file.seek(here)
    except (OSError, AttributeError):
        return None, None
    return here, end - here
