"""Benchmark tasks as data: a folder each, with a task.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError

FOLDER = Path(__file__).resolve().parent


def known() -> list[str]:
    """List the slugs of the tasks that have a folder."""
    return sorted(path.parent.name for path in FOLDER.glob("*/task.toml"))


def folder(slug: str) -> Path:
    """Find a task's folder, or say which tasks there are."""
    if slug not in known():
        raise GenieError(
            f"There is no task {slug!r}; available: {', '.join(known())}. A new "
            "task is a folder with a task.toml (docs/adding-a-task.md).",
            code="unknown-task",
        )
    return FOLDER / slug


def definition(slug: str) -> dict[str, Any]:
    """Read a task's task.toml as it stands; `task_config` says what it means."""
    path = folder(slug) / "task.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise GenieError(f"{slug}/task.toml: {error}.", code="bad-task") from error
