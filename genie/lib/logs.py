"""Log lines that hostile text cannot break or forge."""

from __future__ import annotations

import logging
import re

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028-\u202e\u2066-\u2069]")


def one_line(text: object, limit: int = 300) -> str:
    r"""Make text safe for one log line: no line breaks, no control characters.

    Examples
    --------
    >>> one_line("a\nb\x00c")
    'a\\nb\\x00c'
    """
    flat = str(text).replace("\n", "\\n").replace("\r", "\\r")
    flat = _UNSAFE.sub(lambda hit: hit.group().encode("unicode_escape").decode(), flat)
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


class OneLineFormatter(logging.Formatter):
    """Escapes control characters in messages; tracebacks keep their lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = one_line(record.message, limit=2_000)
        return super().formatMessage(record)
