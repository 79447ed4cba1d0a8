"""Detect the layout of files and read them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.imports.readers.layout import Look, all_layouts
from leaderboard.imports.readers.names import fields_of
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.tables import SEPARATED, header_of, separator_of

# A less likely layout is not tried.
SURE_ENOUGH = 0.5
_PAGE = re.compile(r"\s*<(!doctype|html)", re.IGNORECASE)


def guess(sources: Sequence[Source]) -> dict[str, Look]:
    """Return the likely layouts of the files by slug, the surest first.

    Their surety is above 0; ties are in the order of slugs.
    """
    looks = {slug: layout.look(sources) for slug, layout in all_layouts().items()}
    sure = [(slug, look) for slug, look in looks.items() if look.surety > 0]
    return dict(sorted(sure, key=lambda pair: (-pair[1].surety, pair[0])))


def read(
    sources: Sequence[Source],
    *,
    layout: str = "",
    choices: Mapping[str, Any] | None = None,
) -> Judgments:
    """Read files of one layout, by default of the likeliest.

    Raises "unknown-layout" if none is likely or the name is unknown, and errors of the
    layout.
    """
    layouts = all_layouts()
    if not layout:
        layout = next(
            (s for s, look in guess(sources).items() if look.surety >= SURE_ENOUGH), ""
        )
    if layout not in layouts:
        what = (
            f"There is no layout {layout!r}; known"
            if layout or not sources
            else _nearest_reason(sources[0])
        )
        raise GenieError(
            f"{what} are {', '.join(sorted(layouts))}.", code="unknown-layout"
        )
    found = layouts[layout].read(sources, choices or {})
    named = {problem.source for problem in found.problems}
    with_rows = set(found.rows["file"])
    rest = [
        source.name
        for number, source in enumerate(sources)
        if number not in with_rows and source.name not in named
    ]
    if rest:
        sentence = f"No rating was read from {', '.join(rest[:10])}" + (
            f" and {len(rest) - 10:,} more." if rest[10:] else "."
        )
        found.problems.append(Problem(rest[0], 0, "", sentence, fatal=False))
    return found


def _nearest_reason(source: Source) -> str:
    header, lines = header_of(source), source.lines(5)
    fields, table = set(fields_of(header)), source.ending in SEPARATED
    at = next(
        (
            n
            for n, line in enumerate(lines, 1)
            if "system" in fields_of(line.split(separator_of(line)))
        ),
        0,
    )
    reasons = (
        (not source.data.strip(), "it is empty"),
        (
            source.data[:4] == b"PK\3\4",
            "it is an Excel or ZIP file: save a table as CSV",
        ),
        (_PAGE.match(source.head), "it is a web page: save a table as CSV"),
        (not source.head.strip(), "it is not text in UTF-8: save a table as CSV"),
        (
            not table and not header,
            "it is not a list of objects with a key for each column",
        ),
        (table and at > 1, f"its header is in row {at}: delete the rows above it"),
        (table and not any(lines[1:]), "it has a header only"),
        (not header, "its first row does not name each column once"),
        (
            {"system_a", "system_b"} <= fields,
            "it has two systems in a row, and no column named preferred",
        ),
        (
            "system" not in fields,
            "it has no column named system. If another column holds the systems, add "
            "--layout plain --choose system=COLUMN. A column for each system is not "
            "supported: write a row for each rating",
        ),
        (
            True,
            "it has no columns of workers and of ratings that are numbers. If others hold "
            "them, add --layout plain --choose worker=COLUMN --choose value=COLUMN",
        ),
    )
    return (
        f"No layout fits {source.name}: "
        f"{next(reason for applies, reason in reasons if applies)}. Layouts"
    )
