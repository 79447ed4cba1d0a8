"""Judgments made elsewhere: sent to a site, followed until they have a board."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genie_client.problem import Problem
from genie_client.transport import Transport, multipart

_UNDER_WAY = frozenset({"reading", "importing"})


def bring(
    http: Transport,
    task: str,
    file: Path,
    *,
    dry_run: bool = False,
    every: float = 2.0,
    seconds: float = 3600.0,
    **about: str | Mapping[str, str],
) -> dict[str, Any]:
    """Send a file, or an archive of several, and wait until it is read or imported.

    `about`: title, layout, source, licence, citation; choices, known and questions as
    mappings. The answer has `state`, `error`, `seen`, `problems` and the board's
    `html_url`.

    Raises
    ------
    Problem
        "too-long" when it is not done in time.
    """
    fields = [("task", task), ("dry_run", json.dumps(dry_run))]
    for name, said in about.items():
        text = said if isinstance(said, str) else json.dumps(dict(said))
        fields.append((name, text))
    body, content_type = multipart(fields, file)
    found = http.json("/api/v1/imports/", data=body, content_type=content_type)
    end = time.monotonic() + seconds
    while found["state"] in _UNDER_WAY:
        if time.monotonic() >= end:
            raise Problem(
                f"The import is still {found['state']} after {seconds:g} seconds.",
                code="too-long",
                body=found,
            )
        time.sleep(every)
        found = http.json(f"/api/v1/imports/{found['id']}/")
    answer: dict[str, Any] = found
    return answer
