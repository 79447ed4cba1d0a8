"""Bodies that are refused for their size: taken from who sends them, and dropped."""

from contextlib import suppress

from django.http import HttpRequest

_CHUNK = 1 << 16


def announced(request: HttpRequest) -> int:
    """Give the length that the header says; 0 where it says none."""
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(length) if length.isascii() and length.isdigit() else 0


def drop(request: HttpRequest, most: int) -> None:
    """Read a body and keep nothing of it, up to `most` bytes.

    Browsers and most programs look at an answer only once their upload was taken from
    them; otherwise they see a broken connection in place of the reason.
    """
    left = min(announced(request), most)
    with suppress(OSError):  # who hangs up wants no answer
        while left > 0 and (chunk := request.read(min(_CHUNK, left))):
            left -= len(chunk)
