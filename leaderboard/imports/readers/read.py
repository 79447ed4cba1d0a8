"""Which layout files have, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.imports.readers.layout import Look, all_layouts
from leaderboard.imports.readers.sources import Source

# A layout that is less sure than this is not tried.
SURE_ENOUGH = 0.5


def guess(sources: Sequence[Source]) -> dict[str, Look]:
    """Ask every layout whether the files are its own, the surest first.

    Parameters
    ----------
    sources : sequence of Source

    Returns
    -------
    dict of str to Look
        Layouts with a surety above 0; equals in the order of their names.
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
    """Read files of one layout, the one named or the likeliest.

    Raises
    ------
    GenieError
        "unknown-layout" where none is likely or there is none of that name, and what the
        layout itself finds.
    """
    layouts = all_layouts()
    if not layout:
        layout = next(
            (s for s, look in guess(sources).items() if look.surety >= SURE_ENOUGH), ""
        )
    if layout not in layouts:
        known = ", ".join(sorted(layouts))
        what = f"There is no layout {layout!r}" if layout else "No layout fits"
        raise GenieError(f"{what}; known are {known}.", code="unknown-layout")
    found = layouts[layout].read(sources, choices or {})
    named = {problem.source for problem in found.problems}
    with_rows = set(found.rows["file"])
    rest = [
        source.name
        for number, source in enumerate(sources)
        if number not in with_rows and source.name not in named
    ]
    if rest:
        more = f" and {len(rest) - 10:,} more" if rest[10:] else ""
        sentence = f"No rating was read from {', '.join(rest[:10])}{more}."
        found.problems.append(Problem(rest[0], 0, "", sentence, fatal=False))
    return found
