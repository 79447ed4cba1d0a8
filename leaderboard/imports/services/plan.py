"""Plan the HITs, assignments and answers of rows, without writing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.files import File
from leaderboard.imports.readers.judgments import Judgments, Problem
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.preview import Preview, UsedScale, preview
from leaderboard.imports.selectors import ASIDE, ONE, PAGES, PAIRS, UNKNOWN, WON, About
from leaderboard.imports.services.measures import (
    SYSTEM,
    Before,
    Measure,
    criteria_by_name,
    file_name,
    find_scales,
    join_alike,
    say_outside,
    unconfirmed_scales,
)
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

# A page with so many systems' outputs of one input shows them side by side.
_SEVERAL = 2


@dataclass(frozen=True)
class Criteria:
    rated: dict[str, str]
    paired: dict[str, str]
    aside: dict[str, str]


@dataclass(frozen=True)
class Part:
    """Rows of one kind.

    To the columns of `Judgments` come `kept` (the rating), `exact` (whether the value
    can be computed from it), `named` (the stored criterion), `scale`, `slot`, and
    `campaign`, `item` and `turn`: numbers of each campaign, HIT and assignment of the
    part, from 0.
    """

    kind: str
    rows: pd.DataFrame


def parts(
    judgments: Judgments, measures: Mapping[str, Measure], names: Criteria
) -> list[Part]:
    """Divide rows into parts, one for each kind of campaign; none are lost.

    `measures` has those of ratings. Empty parts are left out.
    """
    counted = _count_judgments(judgments).to_numpy()
    rows = judgments.rows.reset_index(drop=True)
    rows = rows.assign(kept=rows["value"], exact=True, worker=_workers(rows))
    aside, rows = rows[~counted], rows[counted]
    paired = rows["other"] != ""
    ratings, pairs = _convert_ratings(rows[~paired], measures), rows[paired]
    ratings = ratings.assign(named=ratings["criterion"].map(names.rated))
    pairs = pairs.assign(named=pairs["criterion"].map(names.paired))
    finite = aside["kept"].where(np.isfinite(aside["kept"]), 0.0)
    aside = aside.assign(
        named=aside["criterion"].map(names.aside),
        kept=finite,
        exact=aside["kept"] == finite,
    )
    found = [
        _one(ratings),
        _pages(ratings),
        _together(PAIRS, pairs, ["instance", "system", "other"], "two-choice"),
        _won(pairs),
        _together(ASIDE, aside, ["role", "system", "other", "instance"], ""),
    ]
    return [part for part in found if len(part.rows)]


def criteria_of(
    judgments: Judgments,
    rated_before: Collection[str] = (),
    paired_before: Collection[str] = (),
) -> Criteria:
    """Return stored names of the criteria, different for ratings and preferences.

    `rated_before` and `paired_before` are those of the task's other imports.
    """
    counted = _count_judgments(judgments)
    rows, aside = judgments.rows[counted], judgments.rows[~counted]
    paired = rows["other"] != ""
    # one score cannot be a mean of ratings and a share of preferences
    rated = {
        name: f"{kept[:40]}-rated" if kept in paired_before else kept
        for name, kept in criteria_by_name(rows[~paired]["criterion"].unique()).items()
    }
    taken = {*rated.values(), *rated_before}
    pairs = {
        name: f"{kept[:40]}-in-pairs" if kept in taken else kept
        for name, kept in criteria_by_name(rows[paired]["criterion"].unique()).items()
    }
    return Criteria(rated, pairs, criteria_by_name(aside["criterion"].unique()))


def _count_judgments(judgments: Judgments) -> pd.Series[bool]:
    rows = judgments.rows
    counts: pd.Series[bool]
    counts = rows["role"].isin([role.value for role in judgments.counted])
    counts &= np.isfinite(rows["value"]) & (rows["system"] != "")
    counts &= rows["system"] != rows["other"]
    return counts


def n_without_number(judgments: Judgments) -> int:
    """Count judgments that no board can use: without a number, or of no system."""
    meant = judgments.rows["role"].isin([role.value for role in judgments.counted])
    return int((meant & ~_count_judgments(judgments)).sum())


def n_counted(judgments: Judgments) -> int:
    return int(_count_judgments(judgments).sum())


def ratings_of(judgments: Judgments) -> pd.DataFrame:
    """Return the rows that count and rate one output each."""
    rows = judgments.rows[_count_judgments(judgments)]
    return rows[rows["other"] == ""]


def _convert_ratings(
    rows: pd.DataFrame, measures: Mapping[str, Measure]
) -> pd.DataFrame:
    values = rows["value"].to_numpy(float)
    kept, exact = values.copy(), np.ones(len(rows), bool)
    scale = np.full(len(rows), "", object)
    for criterion, measure in measures.items():
        own = (rows["criterion"] == criterion).to_numpy()
        kept[own], scale[own] = measure.to_stored(values[own]), measure.scale
        exact[own] = measure.to_file(kept[own]) == values[own]
    return rows.assign(kept=kept, exact=exact, scale=scale)


def _one(rows: pd.DataFrame) -> Part:
    """Create a campaign for each system and scale, and a HIT for each input.

    A repeated rating of an output is on another HIT, as a worker never gets the same
    one twice.
    """
    again = _again(rows, ["system", "instance", "worker", "criterion"])
    rows = rows.assign(
        slot="",
        campaign=_number_groups(rows, ["system", "scale"]),
        item=_number_groups(
            rows.assign(again=again), ["system", "scale", "instance", "again"]
        ),
    )
    return Part(ONE, rows.assign(turn=_number_groups(rows, ["item", "worker"])))


def _pages(rows: pd.DataFrame) -> Part:
    together = ["page", "instance", "worker"]
    shown = rows[rows["page"] != ""]
    shown = shown[shown.groupby(together)["system"].transform("nunique") >= _SEVERAL]
    if 2 * len(shown) < len(rows):
        shown = shown[:0]
    again = _again(shown, [*together, "system", "criterion"])
    shown = shown.assign(
        campaign=_number_groups(shown, ["scale"]),
        item=_number_groups(shown.assign(again=again), [*together, "again", "scale"]),
    )
    place = shown.sort_values("place", kind="stable").drop_duplicates(
        ["item", "system"]
    )
    place = place.assign(nth=place.groupby("item").cumcount())
    of = place.set_index(["item", "system"])["nth"]
    keys = list(zip(shown["item"], shown["system"], strict=True))
    slots = [slot_name(int(of[key])) for key in keys]
    return Part(PAGES, shown.assign(slot=slots, turn=shown["item"]))


def slot_name(nth: int) -> str:
    """Return the name of a place on a page: A to Z, then AA.

    Examples
    --------
    >>> slot_name(0), slot_name(25), slot_name(26)
    ('A', 'Z', 'AA')
    """
    first = slot_name(nth // 26 - 1) if nth >= 26 else ""
    return first + chr(ord("A") + nth % 26)


def _together(kind: str, rows: pd.DataFrame, by: list[str], scale: str) -> Part:
    again = _again(rows, [*by, "worker", "criterion"])
    rows = rows.assign(
        slot="",
        scale=scale,
        campaign=0,
        item=_number_groups(rows.assign(again=again), [*by, "again"]),
    )
    return Part(kind, rows.assign(turn=_number_groups(rows, ["item", "worker"])))


def _won(rows: pd.DataFrame) -> Part:
    import pandas as pd

    turned = rows.assign(system=rows["other"], kept=1.0 - rows["kept"])
    both = pd.concat([rows, turned], ignore_index=True).assign(scale="preferred")
    return Part(WON, _one(both).rows)


def _workers(rows: pd.DataFrame) -> list[str]:
    """Create a stand-in worker for each page or instance without a worker.

    A single stand-in would be one very busy worker. With many, intervals cover the
    drawn instances only, and not the workers.
    """
    names = zip(rows["worker"], rows["instance"], rows["page"], strict=True)
    return [
        worker or f"{UNKNOWN}{instance}{UNKNOWN}{page}"
        for worker, instance, page in names
    ]


def _again(rows: pd.DataFrame, by: list[str]) -> Any:
    return rows.groupby(by, sort=False).cumcount()


def _number_groups(rows: pd.DataFrame, by: list[str]) -> Any:
    return rows.groupby(by, sort=False).ngroup().to_numpy()


# An import before it is stored: its scales, questions about names, and preview.

# Number of names that an error lists.
_LISTED = 5


def preview_import(
    judgments: Judgments, *, slug: str, about: About, files: Sequence[File] = ()
) -> tuple[Preview, tuple[Choice, ...]]:
    """Return a preview of an import, and the questions about names.

    Names are joined as `about` asks, in `judgments` itself, and values outside their
    scale become problems of it. Without a slug, no database is needed.

    Raises ``unknown-scale``.
    """
    task = Task.objects.filter(slug=slug, imported=True).first() if slug else None
    scales, asked, refused = settle(judgments, task, about, files)
    say_outside(ratings_of(judgments), scales, judgments, files)
    return preview(judgments, scales, refused), asked


def settle(
    judgments: Judgments, task: Task | None, about: About, files: Sequence[File]
) -> tuple[dict[str, UsedScale], tuple[Choice, ...], list[str]]:
    """Find scales and join names as chosen; return these, questions, and refusals."""
    known = task.submissions.values_list("system_name", flat=True) if task else ()
    before = scales_of(task)
    _say_of_all(judgments)
    asked = join_alike(judgments, about.choices, {"systems": known, "criteria": before})
    rows = ratings_of(judgments)
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
        [
            *_too_long(judgments, files),
            *open_ones,
            *unconfirmed_scales(rows, scales, files),
        ],
    )


def _too_long(judgments: Judgments, files: Sequence[File]) -> list[str]:
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
    judged = judgments.judged.drop(columns=["row", "spans"])
    for n, what in (
        (
            n_without_number(judgments),
            "have no number or no system; they are kept but do not count.",
        ),
        (
            int(judged.duplicated().sum()),
            "repeat an earlier one in every column; all of them count.",
        ),
    ):
        one = Problem("All files", 0, "", f"{n:,} judgments {what}", fatal=False)
        judgments.problems += [one] * (n > 0 and one not in judgments.problems)


def scales_of(task: Task | None) -> dict[str, Before]:
    """Return the scales of a task's earlier imports by criterion."""
    rows = task.imports.order_by("pk") if task else ()
    scales: dict[str, Before] = {}
    for row in rows:
        for name, slug in row.said.get("scales", {}).items():
            scales.setdefault(name, (slug, row.pk))
    return scales
