"""HTTP with the standard library: JSON in and out, one file up, files down."""

from __future__ import annotations

import http.client
import json
import re
import secrets
import sys
import time
import urllib.error
import urllib.request
import uuid
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from genie_client.problem import Problem, problem_from
from genie_client.progress import Told, Upload
from genie_client.version import VERSION

# What may be over soon: a file is being made, too many requests, and a site that
# restarts or is busy.
_PASSING = frozenset({202, 429, 502, 503, 504})
MOST_SECONDS = 60.0
# inside the class, `bytes` is its method
Body = bytes
_FIRST_SECONDS = 0.5
_ADDRESS = re.compile(r"https?://([^\s/:\[\]@]+|\[[0-9a-f:]+\])(:\d+)?(/\S*)?", re.I)


class Transport:
    """One site, one token.

    The token goes to the site's own address only: redirects elsewhere are refused.
    """

    def __init__(
        self, site: str, token: str | None, timeout: float, retries: int = 0
    ) -> None:
        if not _ADDRESS.fullmatch(site):
            raise Problem(
                f"{site!r} is not the address of a site; use one such as "
                "https://genie.example.org.",
                code="bad-site",
            )
        if token and not re.fullmatch("[!-~]+", token):
            raise Problem(
                "The token contains characters that no token has. Copy it again.",
                code="bad-token",
            )
        self.site = site.rstrip("/")
        self._token = token
        self.has_token = bool(token)
        self._timeout = timeout
        self._retries = retries
        self._opener = urllib.request.build_opener(_NoRedirect(), _Listening())

    def json(self, path: str, **options: Any) -> dict[str, Any]:
        """Ask, and read a JSON answer."""
        raw = self.bytes(path, accept="application/json", **options)
        try:
            found: dict[str, Any] = json.loads(raw)
        except ValueError as error:
            raise Problem(
                f"{self.site} did not respond with JSON; is it a Genie site?",
                code="not-genie",
            ) from error
        return found

    def bytes(
        self,
        path: str,
        *,
        accept: str = "*/*",
        data: bytes | None = None,
        content_type: str = "",
        headers: dict[str, str] | None = None,
        again: bool = False,
        told: Told | None = None,
    ) -> bytes:
        """Send a request and return the raw response; a refusal raises Problem.

        If the site is busy, requests that are safe to repeat are sent again: reading, and
        requests with `again`.
        """
        url = path if path.startswith("http") else f"{self.site}{path}"
        if urlsplit(url).netloc != urlsplit(self.site).netloc:
            raise Problem(f"{url} does not belong to {self.site}.", code="bad-site")
        sent = {"Accept": accept, "User-Agent": f"genie-client/{VERSION}"}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        if content_type:
            sent["Content-Type"] = content_type
        if data is not None:
            sent["Content-Length"] = str(len(data))
        sent |= headers or {}
        for attempt in range(self._retries + 1):
            try:
                return self._once(url, data, sent, told)
            except Problem as problem:
                last = attempt == self._retries or not (again or data is None)
                wait = pause(problem, attempt)
                if last or wait is None:
                    raise
                time.sleep(wait)
        raise AssertionError("The last attempt returns or raises.")

    def _once(
        self, url: str, data: Body | None, headers: dict[str, str], told: Told | None
    ) -> Body:
        # a body that has been read is not sent again: each attempt has its own
        body: Any = Upload(data, told) if data is not None and told else data
        request = urllib.request.Request(  # noqa: S310  # http and https only, above
            url, data=body, headers=headers
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                read: Body = answer.read()
                wait = answer.headers.get("Retry-After")
                if answer.status == 202 and data is None and wait:
                    raise problem_from(202, read, wait)
                return read
        except urllib.error.HTTPError as error:
            with error:
                raise problem_from(
                    error.code, error.read(), error.headers.get("Retry-After")
                ) from error
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            reason = getattr(error, "reason", error)
            reason = getattr(reason, "strerror", None) or reason
            raise Problem(
                f"{self.site} cannot be reached: {reason}.", code="unreachable"
            ) from error


def pause(problem: Problem, attempt: int) -> float | None:
    """Return how long to wait before trying again; None if that would not help."""
    if problem.status not in _PASSING and problem.code != "unreachable":
        return None
    if problem.retry_after is not None:
        # a quota that is used up for days is an answer, not a pause
        return problem.retry_after if problem.retry_after <= MOST_SECONDS else None
    # at random, so that many programs do not come back at the same moment
    return float(_FIRST_SECONDS * 2**attempt * secrets.SystemRandom().uniform(0.5, 1.0))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class _Listening(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Read the answer of a site that stops reading a request that is too large."""

    def do_open(self, http_class: Any, req: Any, **options: Any) -> Any:
        class Connection(http_class):  # type: ignore[misc]
            def send(self, data: Any) -> None:
                try:
                    super().send(data)
                except (BrokenPipeError, ConnectionResetError, ConnectionAbortedError):
                    if self.sock is None:
                        raise

        return super().do_open(Connection, req, **options)


STREAM = Path("-")


@cache  # a file that is checked may be sent twice
def _standard_input() -> bytes:
    return sys.stdin.buffer.read()


def multipart(fields: list[tuple[str, str]], file: Path) -> tuple[bytes, str]:
    """Write a form with one file; give the body and its content type."""
    mark = uuid.uuid4().hex
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        f"{value}\r\n".encode()
        for name, value in fields
    ]
    name = file.name.replace("\\", "_").replace('"', "_")
    parts.append(
        f'--{mark}\r\nContent-Disposition: form-data; name="file"; '
        f'filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'.encode()
    )
    content = _standard_input() if file == STREAM else file.read_bytes()
    parts += [content, f"\r\n--{mark}--\r\n".encode()]
    return b"".join(parts), f"multipart/form-data; boundary={mark}"
