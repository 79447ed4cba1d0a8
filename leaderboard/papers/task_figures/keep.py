"""Store published numbers of a list with a task."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from genie.lib.errors import GenieError
from leaderboard.imports.models import PublishedFigure
from leaderboard.papers.figures import (
    PUBLISHED,
    Computed,
    Printed,
    Verdict,
    all_figures,
    find,
    not_usable,
)
from leaderboard.papers.task_figures.beside import cells_of
from leaderboard.papers.task_figures.computed import BOARD, figures_of, known_figures
from leaderboard.tasks.models import Task

_MOST = 100  # characters of the name of a table


def published_in(printed: Sequence[Printed], part: str = "") -> list[Printed]:
    """Return the published numbers of one part, without its prefix.

    Raises "nothing-published" if there are none.
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
    return wanted


def keep_published(
    task: Task,
    printed: Sequence[Printed],
    *,
    part: str = "",
    table: str = "",
    figures: str = "",
    why: str = "",
) -> list[PublishedFigure]:
    """Replace the stored numbers of the same table by those of a list.

    It raises the errors of `planned`.

    Parameters
    ----------
    printed : sequence of Printed
        Those with the source "computed" are left out: they were not published.
    part : str
        Prefix of ids, such as a language pair or campaign; others are left out.
    table : str
        The table of entries without one.
    figures : str
        The set to compare with; empty: the first that has such a figure.
    why : str
        The reason for differences, for entries without one.
    """
    rows = plan_rows(task, printed, part=part, table=table, figures=figures, why=why)
    with transaction.atomic():
        tables = {row.table for row in rows}
        PublishedFigure.objects.filter(task=task, table__in=tables).delete()
        return PublishedFigure.objects.bulk_create(rows)


def forget_published(task: Task, table: str | None = None) -> int:
    """Delete the stored numbers of a table, or all; return their count."""
    rows = task.published_figures.all()
    return (rows if table is None else rows.filter(table=table)).delete()[0]


def plan_rows(
    task: Task,
    printed: Sequence[Printed],
    *,
    part: str = "",
    table: str = "",
    figures: str = "",
    why: str = "",
) -> list[PublishedFigure]:
    """Return the rows that `keep_published` would store, without writing.

    Raises "bad-expected" with every entry that matches no figure or is too long,
    "nothing-published" for an empty list.
    """
    wanted = published_in(printed, part)
    likely = _likely(task)
    ours: dict[str, Computed] = {}
    placed = [_place(one, figures, likely) for one in wanted]
    if wrong := _wrong(wanted, placed, table, figures or likely[0]):
        raise not_usable("The list", wrong)
    rows = [
        PublishedFigure(
            task=task,
            table=(one.table or table or "Published")[:_MOST],
            row=row,
            column=column,
            value=one.value,
            tolerance=one.tolerance,
            figure=_choose(task, row, each, ours),
            why=one.why,
            position=place,
        )
        for place, (one, (row, column, each)) in enumerate(
            zip(wanted, placed, strict=True)
        )
    ]
    for row, cell in zip(rows, cells_of(rows, ours), strict=True):
        if cell.verdict is not Verdict.HOLDS:
            row.why = row.why or why
    return rows


def _wrong(
    wanted: Sequence[Printed],
    placed: Sequence[tuple[str, str, list[str]]],
    table: str,
    likely: str,
) -> list[str]:
    wrong, seen = [], set()
    for one, (row, column, called) in zip(wanted, placed, strict=True):
        place = (one.table or table, row, column)
        if not called:
            names = [
                slug for slug in known_figures() if slug.partition("-")[0] == likely
            ]
            wrong.append(
                f"{one.id} is not a figure that Genie computes. The set {likely} has: "
                f"{', '.join(names)}"
            )
        elif place in seen:
            wrong.append(f"{one.id} is another name for an existing entry")
        elif any(len(text) > most for text, most in _lengths(one, row)):
            wrong.append(f"{one.id[:60]} has a text that is too long")
        seen.add(place)
    return wrong


def _lengths(one: Printed, row: str) -> list[tuple[str, int]]:
    return [(row, 200), (one.why, 500), (one.table, _MOST), (str(one.value), 200)]


def _likely(task: Task) -> list[str]:
    layouts = set(task.imports.values_list("layout", flat=True))
    sets = all_figures().values()
    return sorted(
        [BOARD, *(one.slug for one in sets)],
        key=lambda slug: (
            not (
                any(one.slug == slug and layouts & {*one.layouts} for one in sets)
                if layouts
                else slug == BOARD
            )
        ),
    )


def _place(one: Printed, figures: str, likely: list[str]) -> tuple[str, str, list[str]]:
    words = one.id.split("/")
    # the name may come before the row, as in `p/A>B`
    for parts in (words, [*words[:-2], *words[:-3:-1]]):
        name = parts[-1]
        called = [
            f"{one}-{name}"
            for one in ([figures] if figures else likely)
            if f"{one}-{name}" in known_figures()
        ]
        if called:
            return "/".join(parts[:-1]), name, called
    return one.id, "", []


def _choose(
    task: Task, row: str, called: Sequence[str], ours: dict[str, Computed]
) -> str:
    for slug in called:
        figures, _, name = slug.partition("-")
        if figures not in ours:
            ours |= figures_of(task, [figures])
        if find(ours[figures], f"{row}/{name}" if row else name) is not None:
            return slug
    return called[0]
