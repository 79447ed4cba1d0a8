"""Read rating files: by a mapping, by a format's reader, or by the roles of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.files import File
from leaderboard.imports.readers import columns
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.imports.readers.layout import Look, all_layouts
from leaderboard.imports.readers.mapping import (
    ROLES,
    SHAPES,
    SLUG,
    from_toml,
    read_words,
)
from leaderboard.imports.readers.patterns import is_pattern, matches
from leaderboard.imports.readers.questions import ask_of_losses
from leaderboard.imports.readers.shapes import parts_of_names

# A less likely format is not tried.
SURE_ENOUGH = 0.5
MAPPINGS = Path(__file__).parents[1] / "mappings"
#: In a mapping file: the columns, or patterns of columns, by which its files are known.
WHEN = "when"
# Answers to questions about names, which are asked after the files are read.
OF_NAMES = "same_"
#: Columns that its files have not.
UNLESS = "unless"


def shipped_mappings() -> dict[str, dict[str, Any]]:
    """Return the mappings that come with Genie, by name."""
    return {path.stem: from_toml(path) for path in sorted(MAPPINGS.glob("*.toml"))}


def guess(files: Sequence[File]) -> dict[str, Look]:
    """Return the likely formats of the files by slug, the surest first."""
    looks = {slug: layout.look(files) for slug, layout in all_layouts().items()}
    sure = [(slug, look) for slug, look in looks.items() if look.surety > 0]
    return dict(sorted(sure, key=lambda pair: (-pair[1].surety, pair[0])))


def layout_of(files: Sequence[File]) -> str:
    """Return the format or shipped mapping of files, else that of any columns."""
    for slug, look in guess(files).items():
        if look.surety >= SURE_ENOUGH:
            return slug
    names = columns.names_in(files)
    fitting = [
        (len(mapping[WHEN]), slug)
        for slug, mapping in shipped_mappings().items()
        if not {*mapping.get(UNLESS, ())} & {*names}
        and parts_of_names(files, mapping.get("files"))
        and all(
            bool(matches(one, names)) if is_pattern(one) else one in names
            for one in mapping[WHEN]
        )
    ]
    return max(fitting)[1] if fitting else SLUG


def choices_for(layout: str, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return choices on top of those of a shipped mapping.

    Raises "unknown-layout".
    """
    known = shipped_mappings()
    if layout != SLUG and layout not in known:
        names = ", ".join(sorted({SLUG, *known, *all_layouts()}))
        raise GenieError(
            f"There is no layout {layout!r}; known are {names}.", code="unknown-layout"
        )
    for name, value in choices.items():
        fitting = Mapping if name == "words" else list | tuple
        if name in (*ROLES, "words") and not isinstance(value, str | fitting):
            raise GenieError(f"{name} cannot be {value!r}.", code="unknown-choice")
    mapping = known.get(layout, {})
    made = mapping | dict(choices)
    if "words" in mapping and "words" in choices:
        made["words"] = read_words(mapping["words"]) | read_words(choices["words"])
    return {k: v for k, v in made.items() if not k.startswith(OF_NAMES)}


def propose(
    files: Sequence[File], *, layout: str = "", choices: Mapping[str, Any] | None = None
) -> columns.Proposal:
    """Return what files hold and what a person must decide.

    Raises "unknown-layout", and errors of the files, the format, and the choices.
    """
    layout = layout or layout_of(files)
    formats = all_layouts()
    if layout in formats:
        said = choices or {}
        asked = formats[layout].look(files).choices
        found = columns.Proposal(
            [], [replace(q, needed=q.needed and not said.get(q.name)) for q in asked]
        )
        found.judgments = formats[layout].read(files, said)
        if not said.get("lost"):
            found.questions += ask_of_losses(found.judgments)
    else:
        said = choices_for(layout, choices or {})
        answered = not {*(choices or ())} <= {*SHAPES, "lost"}
        found = columns.propose(files, said, answered=answered)
        roles = dict.fromkeys(one.role for one in found.columns)
        used = {r: [o.name for o in found.columns if o.role == r] for r in roles}
        used.pop("ignore", None)
        found.mapping = said | found.mapping | used
    if found.judgments is not None:
        found.judgments.layout = layout
        _name_unread(files, found.judgments)
    return found


def read(
    files: Sequence[File], *, layout: str = "", choices: Mapping[str, Any] | None = None
) -> Judgments:
    """Read files of one format, by default of the likeliest.

    Raises "choice-needed", with the files' columns, and the errors of `propose`.
    """
    return columns.require_ratings(propose(files, layout=layout, choices=choices))


def _name_unread(files: Sequence[File], found: Judgments) -> None:
    named = {problem.source for problem in found.problems}
    with_rows = set(found.rows["file"].unique())
    rest = [
        file.name
        for number, file in enumerate(files)
        if number not in with_rows and file.name not in named
    ]
    if rest:
        sentence = f"No rating was read from {', '.join(rest[:10])}" + (
            f" and {len(rest) - 10:,} more." if rest[10:] else "."
        )
        found.problems.append(Problem(rest[0], 0, "", sentence, fatal=False))
