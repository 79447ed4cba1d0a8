"""How long a notice may be: decided before it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.http import HttpRequest


def is_too_long(request: HttpRequest, largest_bytes: int) -> bool:
    """Tell by what the request says of itself; nothing beyond that is ever read."""
    length = request.headers.get("Content-Length") or "0"
    return not (length.isascii() and length.isdecimal()) or int(length) > largest_bytes
