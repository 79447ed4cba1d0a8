"""HTTP with the standard library: JSON in and out, one file up, files down."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from genie_client.problem import Problem, problem_from


class Transport:
    """One site, one token.

    The token goes to the site's own address only: redirects elsewhere are refused.
    """

    def __init__(self, site: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(site)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise Problem(
                f"{site!r} is not the address of a site; use one such as "
                "https://genie.example.org.",
                code="bad-site",
            )
        self.site = site.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirect())

    @property
    def has_token(self) -> bool:
        """Tell whether requests are somebody's."""
        return bool(self._token)

    def json(self, path: str, **options: Any) -> Any:
        """Ask, and read a JSON answer."""
        raw = self.bytes(path, accept="application/json", **options)
        try:
            return json.loads(raw)
        except ValueError as error:
            raise Problem(
                f"{self.site} did not respond with JSON; is it a Genie site?",
                code="not-genie",
            ) from error

    def bytes(
        self,
        path: str,
        *,
        accept: str = "*/*",
        data: bytes | None = None,
        content_type: str = "",
        headers: dict[str, str] | None = None,
    ) -> bytes:
        """Ask, and give the answer as it is; a refusal is a Problem."""
        url = path if path.startswith("http") else f"{self.site}{path}"
        if urlsplit(url).netloc != urlsplit(self.site).netloc:
            raise Problem(f"{url} does not belong to {self.site}.", code="bad-site")
        sent = {"Accept": accept, "User-Agent": "genie-client/0.1.0"}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        if content_type:
            sent["Content-Type"] = content_type
        request = urllib.request.Request(  # noqa: S310  # http and https only, above
            url, data=data, headers={**sent, **(headers or {})}
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                body: bytes = answer.read()
                return body
        except urllib.error.HTTPError as error:
            with error:
                raise problem_from(
                    error.code, error.read(), error.headers.get("Retry-After")
                ) from error
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise Problem(
                f"{self.site} cannot be reached: {reason}.", code="unreachable"
            ) from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


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
    parts += [file.read_bytes(), f"\r\n--{mark}--\r\n".encode()]
    return b"".join(parts), f"multipart/form-data; boundary={mark}"
