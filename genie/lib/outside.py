"""Plugins from outside the source tree: entry points of packages, and a folder.

A package lists its plugins as entry points in the groups `genie.metrics`,
`genie.scales` and so on. The folder `GENIE_EXTENSIONS` has a folder for each kind with
files like ours. Unusable plugins are left out and reported in the log, by `genie check`
and in the admin; everything else works without them.
"""

from __future__ import annotations

import importlib.util
import inspect
import logging
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from genie.lib import env

# Our packages that can be extended, by the name of the kind.
KINDS = {
    "metrics": "leaderboard.metrics",
    "designs": "leaderboard.designs",
    "scales": "crowd.scales",
    "readers": "leaderboard.tasks.readers",
    "layouts": "leaderboard.imports.readers.layouts",
    "platforms": "crowd.platforms",
    "preflight": "leaderboard.submissions.preflight",
}
# These are found as objects or folders of files, not as classes.
OTHER_KINDS = ("detectors", "templates", "tasks")
KIND_OF = {package: kind for kind, package in KINDS.items()}

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,49}")
_log = logging.getLogger("genie.extensions")
_problems: dict[tuple[str, str], Problem] = {}

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    kind: str
    where: str
    reason: str


@dataclass(frozen=True)
class Piece:
    kind: str
    where: str
    load: Callable[[], object]


def classes(kind: str, base: type[T]) -> Iterator[tuple[str, type[T]]]:
    for piece, found in _load(kind):
        values = _members(found) if inspect.ismodule(found) else [found]
        fitting = [
            value
            for value in values
            if inspect.isclass(value)
            and issubclass(value, base)
            and "slug" in vars(value)
            and not inspect.isabstract(value)
        ]
        if not fitting:
            refuse(
                kind,
                piece.where,
                f"it has no subclass of {base.__name__} with its own slug and all "
                "required methods",
            )
        for value in fitting:
            if _has_slug(piece, value):
                yield piece.where, value


def objects(kind: str, base: type[T]) -> Iterator[tuple[str, T]]:
    for piece, found in _load(kind):
        values = vars(found).values() if inspect.ismodule(found) else [found]
        fitting = [value for value in values if isinstance(value, base)]
        if not fitting:
            refuse(kind, piece.where, f"it has no {base.__name__}")
        for value in fitting:
            if _has_slug(piece, value):
                yield piece.where, value


def folders(kind: str) -> Iterator[tuple[str, Path]]:
    for piece, found in _load(kind):
        if isinstance(found, Path):
            yield piece.where, found
        elif inspect.ismodule(found) and getattr(found, "__path__", None):
            yield piece.where, Path(next(iter(found.__path__)))
        else:
            refuse(kind, piece.where, "it is not a package with a folder for the files")


def refuse(kind: str, where: str, reason: str) -> None:
    """Leave a plugin out; this is logged once, and listed on request."""
    problem = Problem(kind, where, reason)
    if _problems.get((kind, where)) != problem:
        _problems[kind, where] = problem
        _log.error("Left out %s (%s): %s.", where, kind, reason)


def problems() -> list[Problem]:
    return [_problems[key] for key in sorted(_problems)]


def forget() -> None:
    _installed_pieces.cache_clear()
    _problems.clear()


def _load(kind: str) -> Iterator[tuple[Piece, object]]:
    for piece in [*_installed_pieces().get(kind, []), *_in_folder(kind)]:
        try:
            yield piece, piece.load()
        # Third-party code: whatever it raises, the site starts without it.
        except Exception as error:  # noqa: BLE001
            refuse(kind, piece.where, f"{type(error).__name__}: {error}".rstrip("."))


@cache
def _installed_pieces() -> dict[str, list[Piece]]:
    """Read all packages' entry points once, because that is the slowest part."""
    found: dict[str, list[Piece]] = {}
    seen: set[str] = set()
    for package in metadata.distributions():
        # Most have no entry points for us, and parsing all would be slow.
        if "[genie." not in (package.read_text("entry_points.txt") or ""):
            continue
        if package.name in seen:  # the first on the path wins
            continue
        seen.add(package.name)
        for entry in package.entry_points:
            group, _, kind = entry.group.partition(".")
            if group == "genie":
                piece = Piece(kind, f"{entry.name} of {package.name}", entry.load)
                _sort_in(found, piece)
    return found


def _sort_in(found: dict[str, list[Piece]], piece: Piece) -> None:
    if piece.kind in KINDS or piece.kind in OTHER_KINDS:
        found.setdefault(piece.kind, []).append(piece)
    else:
        refuse(piece.kind, piece.where, "there is no such kind of extension")


def _in_folder(kind: str) -> list[Piece]:
    configured = env.text("GENIE_EXTENSIONS")
    folder = Path(configured).expanduser() / kind
    if configured and not folder.parent.is_dir():
        refuse("GENIE_EXTENSIONS", configured, "there is no such folder")
    if not configured or not folder.is_dir():
        return []
    if kind in {"templates", "tasks"}:
        return [Piece(kind, str(folder), lambda: folder)]
    return [
        Piece(kind, str(path), lambda path=path: _module(kind, path))  # type: ignore[misc]
        for path in sorted(folder.glob("[!_]*.py"))
    ]


def _module(kind: str, path: Path) -> ModuleType:
    name = f"genie_extensions.{kind}.{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ImportError("it cannot be read as a Python module")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _members(module: ModuleType) -> list[object]:
    # A module's members include its imports.
    return [
        value
        for _, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__
    ]


def _has_slug(piece: Piece, value: object) -> bool:
    slug = getattr(value, "slug", None)
    if isinstance(slug, str) and _SLUG.fullmatch(slug):
        return True
    refuse(
        piece.kind,
        piece.where,
        f"its slug {slug!r} must have at most 50 letters, digits and hyphens",
    )
    return False
