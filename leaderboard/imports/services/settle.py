"""An import before it is stored: its scales, questions about names, and preview."""

from collections.abc import Sequence

from leaderboard.imports.about import About
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.preview import Preview, UsedScale, preview
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.services import plan
from leaderboard.imports.services.alike import join_alike
from leaderboard.imports.services.measures import (
    Before,
    file_name,
    find_scales,
    say_outside,
    unconfirmed,
)
from leaderboard.imports.services.named import SYSTEM
from leaderboard.tasks.models import Task

# Number of names that an error lists.
_LISTED = 5


def preview_import(
    judgments: Judgments, *, slug: str, about: About, files: Sequence[Source] = ()
) -> tuple[Preview, tuple[Choice, ...]]:
    """Return a preview of an import, and the questions about names.

    Names are joined as `about` asks, in `judgments` itself, and values outside their
    scale become problems of it.

    Raises ``unknown-scale``.
    """
    task = Task.objects.filter(slug=slug, imported=True).first()
    scales, asked, refused = settle(judgments, task, about, files)
    say_outside(plan.ratings_of(judgments), scales, judgments, files)
    return preview(judgments, scales, refused), asked


def settle(
    judgments: Judgments, task: Task | None, about: About, files: Sequence[Source]
) -> tuple[dict[str, UsedScale], tuple[Choice, ...], list[str]]:
    """Find scales and join names as chosen; return these, questions, and refusals."""
    known = task.submissions.values_list("system_name", flat=True) if task else ()
    before = scales_of(task)
    _say_of_all(judgments)
    asked = join_alike(judgments, about.choices, {"systems": known, "criteria": before})
    rows = plan.ratings_of(judgments)
    scales = find_scales(rows, judgments, said=about.scales, before=before)
    open_ones = [
        f"{one.question} Answer with --choose {one.name}=yes or {one.name}=no, or on "
        "the import's page."
        for one in asked
        if about.choices.get(one.name) not in one.options
    ]
    return (
        scales,
        asked,
        [*_too_long(judgments, files), *open_ones, *unconfirmed(rows, scales, files)],
    )


def _too_long(judgments: Judgments, files: Sequence[Source]) -> list[str]:
    found: dict[str, str] = {}
    for column in ("system", "other"):
        rows = judgments.rows[judgments.rows[column].str.len() > SYSTEM]
        for file, row, name in rows[["file", "row", column]].itertuples(index=False):
            sentence = (
                f"the name {name[:20]}… has {len(name):,} characters, and {SYSTEM} can be "
                "stored; shorten it."
            )
            problem = Problem(file_name(files, file), row, "system", sentence)
            found.setdefault(name, str(problem))
    return list(found.values())[:_LISTED]


def _say_of_all(judgments: Judgments) -> None:
    rows = judgments.judged
    told = []
    if n := plan.n_without_number(judgments):
        told.append(
            f"{n:,} judgments have no number or no system; they are kept but "
            "do not count."
        )
    if n := int(rows.drop(columns=["row", "spans"]).duplicated().sum()):
        told.append(
            f"{n:,} judgments repeat an earlier one in every column; all of them count."
        )
    problems = [Problem("All files", 0, "", one, fatal=False) for one in told]
    judgments.problems += [one for one in problems if one not in judgments.problems]


def scales_of(task: Task | None) -> dict[str, Before]:
    """Return the scales of a task's earlier imports by criterion."""
    rows = task.imports.order_by("pk") if task else ()
    scales: dict[str, Before] = {}
    for row in rows:
        for name, slug in row.said.get("scales", {}).items():
            scales.setdefault(name, (slug, row.pk))
    return scales
