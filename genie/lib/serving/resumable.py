"""Files that can be fetched in parts: a download that broke off goes on where it was.

Django's own `FileResponse` sends whole files only. Answers ``Range`` with one range, as
clients that resume send it (RFC 9110, sections 13.1.5 and 14); several ranges, which
nobody needs for that, get the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

# Eighteen digits count the bytes of any file; Python refuses to read thousands.
_ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
_CHUNK = 1 << 16


def resumable(
    request: HttpRequest, file: IO[bytes], *, size: int, name: str, sha256: str
) -> HttpResponseBase:
    """Send a file that never changes, or the part of it that is asked for.

    The checksum tells whether a part belongs to what a client has (``If-Range``).
    """
    whole = FileResponse(file, as_attachment=True, filename=name)
    etag = f'"{sha256}"'
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "Content-Disposition": whole["Content-Disposition"],
    }
    wanted = _wanted(request, size, etag)
    if wanted is None:
        for header, value in {**headers, "Content-Length": str(size)}.items():
            whole[header] = value
        return whole
    first, last = wanted
    if first > last:
        file.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    return StreamingHttpResponse(
        _Part(file, first, last - first + 1),
        status=206,
        content_type=whole["Content-Type"],
        headers={
            **headers,
            "Content-Range": f"bytes {first}-{last}/{size}",
            "Content-Length": str(last - first + 1),
        },
    )


def _wanted(request: HttpRequest, size: int, etag: str) -> tuple[int, int] | None:
    """Read which bytes are asked for; None for all, an empty range for none there are."""
    match = _ONE_RANGE.fullmatch(request.headers.get("Range", ""))
    if match is None or match.group(1, 2) == ("", ""):
        return None
    if request.headers.get("If-Range", etag) != etag:
        return None  # of another file: the client has to begin again
    first, last = match.groups()
    if not first:  # the last so many bytes
        return (max(0, size - int(last)), size - 1) if int(last) else (1, 0)
    if last and int(last) < int(first):
        return None  # no range by the standard
    end = min(int(last), size - 1) if last else size - 1
    return (int(first), end) if int(first) < size else (1, 0)


class _Part:
    """Some bytes of a file, which is closed with the response."""

    def __init__(self, file: IO[bytes], first: int, n: int) -> None:
        self.file, self.left = file, n
        file.seek(first)

    def __iter__(self) -> Iterator[bytes]:
        while self.left and (data := self.file.read(min(_CHUNK, self.left))):
            self.left -= len(data)
            yield data

    def close(self) -> None:
        self.file.close()
