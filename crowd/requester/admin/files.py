"""Text files that staff hand in."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError

MAX_BYTES = 900_000


def decoded(file: Any) -> str:
    """Give a file's text; the refusal names the line that is not UTF-8."""
    if file.size > MAX_BYTES:
        raise ValidationError(f"A file can have at most {MAX_BYTES} bytes.")
    data: bytes = file.read()
    try:
        # Spreadsheets put a byte-order mark in front, which belongs to no column's
        # name.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValidationError(f"Line {line} is not UTF-8.") from None
