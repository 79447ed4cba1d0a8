"""Benchmark tasks as data: a folder each, with a task.toml.

Shipped tasks are in this folder. Others are in the folders of `GENIE_TASKS` and in
extensions, which are searched after it. A folder is a bundle as `export_task` writes
it.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from genie.lib import outside as extensions
from genie.lib.errors import GenieError

FOLDER = Path(__file__).resolve().parent


def known_tasks() -> list[str]:
    return sorted({path.name for path in _folders()})


def outside() -> list[str]:
    own = {path.parent.name for path in FOLDER.glob("*/task.toml")}
    return sorted({*known_tasks()} - own)


def covered_folders() -> list[Path]:
    """Return the folders that are hidden by an earlier one with the same name."""
    return [path for path in _folders() if path != folder(path.name)]


def missing_folders() -> list[Path]:
    return [path for path in _named_folders() if not path.is_dir()]


def folder(slug: str) -> Path:
    """Return a task's folder; the error lists the known tasks."""
    for path in _folders():
        if path.name == slug:
            return path
    raise GenieError(
        f"There is no task {slug!r}; available: {', '.join(known_tasks())}. A new "
        "task is a folder with a task.toml (docs/adding-a-task.md).",
        code="unknown-task",
    )


def definition(slug: str) -> dict[str, Any]:
    """Read a task's raw task.toml; `task_config` interprets it."""
    path = folder(slug) / "task.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise GenieError(f"{slug}/task.toml: {error}.", code="bad-task") from error


def data_of(slug: str) -> Path | None:
    """Return the folder with a task's texts; None: they are in a release."""
    home = folder(slug)
    return home if (home / "test.jsonl").is_file() else None


def templates_of(slug: str) -> dict[str, bytes]:
    """Read the HIT templates of a folder outside the tree, as in a bundle."""
    home = folder(slug)
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for path in sorted(home.glob("templates/*/*"))
        if path.is_file() and not path.name.startswith(".")
    }


def _folders() -> Iterator[Path]:
    # Shipped tasks are found first: no other folder can replace them.
    for root in (FOLDER, *_named_folders()):
        for path in sorted(root.glob("*/task.toml")):
            yield path.parent


def _named_folders() -> list[Path]:
    named = [Path(path).expanduser() for path in settings.GENIE.get("TASKS", ())]
    return [*named, *(path for _, path in extensions.folders("tasks"))]
