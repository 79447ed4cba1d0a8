"""Log lines that hostile text cannot break or forge."""

import json
import logging
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from genie.lib.database import unavailable

# Control characters, line separators, and marks that reverse text on the screen.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028-\u202e\u2066-\u2069]")
# Request ids from a proxy; any other text could forge log lines.
_NUMBER = re.compile(r"[A-Za-z0-9-]{8,64}")


# This thread's current work: a request's id, or a job's.
_about: ContextVar[dict[str, str]] = ContextVar("about", default={})  # noqa: B039


@contextmanager
def about(**names: str) -> Iterator[None]:
    """Set the context of log lines within the block."""
    token = _about.set({**_about.get(), **names})
    try:
        yield
    finally:
        _about.reset(token)


class NumberRequests:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        number = given if _NUMBER.fullmatch(given) else uuid.uuid4().hex
        with about(request=number):
            answer = self.get_response(request)
        answer.headers["X-Request-ID"] = number
        return answer


def working_on(**names: str) -> None:
    _about.set(names)


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


class ShortTrouble(logging.Filter):
    """Drops tracebacks if the cause is outside the code: one line is enough."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, DisallowedHost):
            record.exc_info = None
        elif unavailable(error):
            record.msg, record.args = f"{record.getMessage()}: {one_line(error)}", ()
            record.exc_info = None
        return True


class OneLineFormatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = one_line(record.message, limit=2_000)
        return super().formatMessage(record)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage()[:2_000],
            **_about.get(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(
            line
        )  # escapes all characters that could break or reverse a line
