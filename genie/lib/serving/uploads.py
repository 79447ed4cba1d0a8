from contextlib import suppress

from django.http import HttpRequest

_CHUNK = 1 << 16


def announced_length(request: HttpRequest) -> int:
    """Return the length in the header; 0 if there is none."""
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(length) if length.isascii() and length.isdigit() else 0


def drop(request: HttpRequest, most: int) -> None:
    """Read and drop a body, up to `most` bytes.

    Browsers and most programs read a response only after their upload was received;
    otherwise they see a broken connection instead of the reason.
    """
    left = min(announced_length(request), most)
    with suppress(OSError):  # clients that hang up want no response
        while left > 0 and (chunk := request.read(min(_CHUNK, left))):
            left -= len(chunk)
