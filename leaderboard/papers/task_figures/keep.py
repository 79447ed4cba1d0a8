"""Published numbers are read from a list and kept with a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction

from genie.lib.errors import GenieError
from leaderboard.imports.models import PublishedFigure
from leaderboard.papers.expected import PUBLISHED, Printed, find
from leaderboard.papers.figures import Computed
from leaderboard.papers.task_figures.computed import figures_of, known
from leaderboard.tasks.models import Task

_MOST = 100  # characters of the name of a table


def keep_published(
    task: Task,
    printed: Sequence[Printed],
    *,
    part: str = "",
    table: str = "",
    figures: str = "",
    dry_run: bool = False,
) -> list[PublishedFigure]:
    """Put a list of printed numbers in the place of those of the same table.

    Parameters
    ----------
    task : Task
    printed : sequence of Printed
        Those that somebody else computed are left out: they were not published.
    part : str
        Only ids that begin so, and without it: a language pair or campaign of a list.
    table : str
        Where they are printed; empty: what each entry's note says.
    figures : str
        The set that they are compared with; empty: the first that has such a figure.
    dry_run : bool
        Whether to write nothing.

    Returns
    -------
    list of PublishedFigure

    Raises
    ------
    GenieError
        "no-figure" where there is none of that name, "nothing-published" for an empty list.
    """
    wanted = [
        replace(one, id=one.id.removeprefix(f"{part}/"))
        for one in printed
        if one.source == PUBLISHED and (not part or one.id.startswith(f"{part}/"))
    ]
    if not wanted:
        where = f" and under {part}/" if part else ""
        raise GenieError(
            f"None of the {len(printed):,} numbers is published{where}.",
            code="nothing-published",
        )
    placed = [_placed(one, figures) for one in wanted]
    ours = figures_of(
        task, {figure.partition("-")[0] for _, _, each in placed for figure in each}
    )
    rows = [
        PublishedFigure(
            task=task,
            table=(table or one.note.partition(": ")[0] or PUBLISHED)[:_MOST],
            row=row,
            column=column,
            value=one.value,
            tolerance=one.tolerance,
            figure=_chosen(row, each, ours),
            why=one.why,
            position=place,
        )
        for place, (one, (row, column, each)) in enumerate(
            zip(wanted, placed, strict=True)
        )
    ]
    if not dry_run:
        with transaction.atomic():
            tables = {row.table for row in rows}
            PublishedFigure.objects.filter(task=task, table__in=tables).delete()
            PublishedFigure.objects.bulk_create(rows)
    return rows


def _placed(one: Printed, figures: str) -> tuple[str, str, list[str]]:
    """Give the row and the name of an id, and the figures that are called so."""
    words = one.id.split("/")
    # the name may stand before its row, as in `p/A>B`
    for parts in (words, [*words[:-2], *words[:-3:-1]]):
        name = parts[-1]
        called = [
            slug
            for slug in known()
            if slug.partition("-")[2] == name
            and (not figures or slug.partition("-")[0] == figures)
        ]
        if called:
            return "/".join(parts[:-1]), name, called
    raise GenieError(
        f"{one.id} names no figure that is computed here; known are"
        f" {', '.join(slug for slug in known() if not figures or slug.startswith(figures))}.",
        code="no-figure",
    )


def _chosen(row: str, called: Sequence[str], ours: Mapping[str, Computed]) -> str:
    """Take the first set that has this figure of this task, or the first of all."""
    for slug in called:
        figures, _, name = slug.partition("-")
        if find(ours.get(figures, {}), f"{row}/{name}" if row else name) is not None:
            return slug
    return called[0]
