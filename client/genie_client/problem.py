"""What went wrong, as the site said it."""

from __future__ import annotations

import json
from typing import Any


class Problem(Exception):
    """A refusal of the site, or a site that does not answer.

    Parameters
    ----------
    message : str
        One sentence.
    code : str
        The site's stable name of the problem; "unreachable" and "not-genie" are ours.
    status : int
        Of the HTTP answer, 0 without one.
    body : dict
        The site's whole answer.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        status: int = 0,
        body: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.body = body or {}
        self.retry_after = retry_after


def problem_from(status: int, raw: bytes, retry_after: str | None) -> Problem:
    """Read a refusal, as problem+json if the site sends it."""
    try:
        body = json.loads(raw)
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    said = (
        body.get("detail")
        or body.get("title")
        or f"The site responded with status {status}."
    )
    if status == 202:
        said = "The site is still making this file. Please try again later."
    if status == 404 and body.get("code", "not-found") == "not-found":
        said = "Not found, or you don't have access to it."
    more = [str(one["message"]) for one in body.get("errors") or [] if "message" in one]
    said = " ".join([said, *(one for one in more if one not in said)])
    wait = float(retry_after) if retry_after and retry_after.isdigit() else None
    return Problem(
        str(said),
        code=str(body.get("code", "")),
        status=status,
        body=body,
        retry_after=wait,
    )
