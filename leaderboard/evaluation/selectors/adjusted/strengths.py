"""Comparisons and joint evaluations, adjusted for length, Markdown and position."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from genie.lib.errors import GenieError
from genie.lib.serving.computed_once import computed_once
from leaderboard.evaluation.models.comparison import ComparedPair, Comparison
from leaderboard.evaluation.models.human_evaluation import JudgedOutput
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.comparison_labels import (
    FIRST_SLOT,
    MIDDLE,
    votes_shown,
)
from leaderboard.evaluation.selectors.system_ratings import all_system_ratings_of
from leaderboard.stats.bradley_terry import BradleyTerry, bradley_terry_by_worker
from leaderboard.stats.comparisons import compare
from leaderboard.stats.intervals import Interval
from leaderboard.stats.preferences.adjusted import Adjusted, adjusted_bradley_terry
from leaderboard.stats.preferences.style import style_differences, style_of
from leaderboard.stats.preferences.words import CAUTION, WORDS, adjusted_for
from leaderboard.submissions.models.submission import Prediction

_KEPT_SECONDS = 24 * 60 * 60
_OF_PAGE = ["item", "worker", "submission", "value"]
# Submission and instance to what is counted of the output; None: there are no words.
Styles = Mapping[tuple[int, Any], Mapping[str, float] | None]


class Shown(NamedTuple):
    """An output on a worker's page, and how it was rated there."""

    slot: str
    instance: Any
    submission: int
    value: float


class Judged(NamedTuple):
    """What one worker said of two outputs of an instance; 1: the first is better."""

    worker: Hashable
    instance: Any
    first: int
    second: int
    outcome: int


@dataclass(frozen=True)
class Strength:
    """A system before and after; of two systems, shares of preferences, else log-odds."""

    submission: int
    before: Interval
    after: Interval


@dataclass(frozen=True)
class Moved:
    """What one covariate does, in log-odds."""

    name: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class AdjustedStrengths:
    """What preferences say of systems with and without what texts differ in.

    `adjusted_for` says in a sentence what was adjusted for, `caution` how to read it.
    """

    systems: list[Strength]
    effects: list[Moved]
    adjusted_for: str
    covers: str
    caution: str = CAUTION


def of_comparison(comparison: Comparison) -> AdjustedStrengths | None:
    """Adjust the share of answers that prefer A; None before its end, or without one."""
    if not comparison.is_over:
        return None
    instances = dict(
        ComparedPair.objects.filter(comparison=comparison).values_list(
            "pk", "judged_item__instance_id"
        )
    )
    both = comparison.a_id, comparison.b_id
    rows = [
        judged(both, pair.slot_of_a, worker, instances[pair.pair_pk], for_a)
        for pair in votes_shown(comparison)
        for worker, for_a in zip(pair.workers, pair.values, strict=True)
    ]
    return adjusted(rows, list(both), styles_of(rows))


def judged(
    both: tuple[int, int], slot_of_a: str, worker: Hashable, instance: Any, for_a: float
) -> Judged:
    """Say in the order of the page what a vote for or against A says."""
    a_first = slot_of_a == FIRST_SLOT
    first, second = both if a_first else both[::-1]
    better = int(np.sign(for_a - MIDDLE)) * (1 if a_first else -1)
    return Judged(worker, instance, first, second, better)


def of_joint(joint: JointEvaluation) -> dict[str, AdjustedStrengths]:
    """Adjust the strengths of a joint evaluation, by criterion, where it has any."""
    stored = joint.results.get("criteria", {})
    if not stored:
        return {}
    # tens of thousands of battles take seconds; other ratings have other results
    made_of = sorted(one.get("ratings_sha256", "") for one in stored.values())
    digest = sha256("".join(made_of).encode()).hexdigest()
    key = f"adjusted-{joint.evaluation_id}-{digest}"
    return computed_once(key, lambda: _of_joint(joint), _KEPT_SECONDS)


def _of_joint(joint: JointEvaluation) -> dict[str, AdjustedStrengths]:
    ratings = all_system_ratings_of([joint.evaluation_id])
    ratings = ratings[ratings["why_not"] == ""]
    outputs = JudgedOutput.objects.filter(judged_item__evaluation=joint.evaluation_id)
    place = {
        (item, submission): (slot, instance)
        for item, submission, slot, instance in outputs.values_list(
            "judged_item__item_id",
            "submission_id",
            "slot",
            "judged_item__instance_id",
        )
    }
    systems = [row.submission_id for row in joint.evaluation.systems.all()]
    found = {}
    for criterion, of_criterion in ratings.groupby("criterion", sort=True):
        columns = [of_criterion[name].tolist() for name in _OF_PAGE]
        pages: dict[tuple[int, int], list[Shown]] = {}
        for item, worker, pk, value in zip(*columns, strict=True):
            output = Shown(*place[item, pk], pk, value)
            pages.setdefault((item, worker), []).append(output)
        rows = judged_on_pages((who, shown) for (_, who), shown in pages.items())
        if (one := adjusted(rows, systems, styles_of(rows))) is not None:
            found[str(criterion)] = one
    return found


def judged_on_pages(
    pages: Iterable[tuple[Hashable, Sequence[Shown]]],
) -> list[Judged]:
    """Read the ratings of each worker's page as comparisons of the outputs on it."""
    rows = []
    for worker, shown in pages:
        # Z comes before AA
        in_order = sorted(shown, key=lambda one: (len(one.slot), *one))
        rows += [
            Judged(
                worker,
                one.instance,
                one.submission,
                other.submission,
                int(np.sign(one.value - other.value)),
            )
            for one, other in combinations(in_order, 2)
        ]
    return rows


def adjusted(
    rows: Sequence[Judged], systems: list[int], styles: Styles
) -> AdjustedStrengths | None:
    """Fit with and without covariates; None without texts, or without strengths."""
    first = [(row.first, row.instance) for row in rows]
    second = [(row.second, row.instance) for row in rows]
    if not rows or not {*first, *second} <= styles.keys():
        # judgments made elsewhere may have come without texts
        return None
    number = {pk: place for place, pk in enumerate(systems)}
    games = compare(
        [number[row.first] for row in rows],
        [number[row.second] for row in rows],
        [row.outcome for row in rows],
        len(systems),
    )
    _, workers = np.unique([str(row.worker) for row in rows], return_inverse=True)
    # judgments of others may have come without texts: then the side is all there is
    written = {key: one for key, one in styles.items() if one is not None}
    known = {*first, *second} <= written.keys()
    differences = style_differences(written, first, second) if known else {}
    try:
        before = bradley_terry_by_worker(games, workers)
        after = adjusted_bradley_terry(games, differences, clusters=workers)
    except GenieError:
        return None
    return AdjustedStrengths(
        [
            Strength(pk, _shown(before, place), _shown(after.fit, place))
            for place, pk in enumerate(systems)
        ],
        _moved(after),
        adjusted_for([one.name for one in after.effects], after.left_out),
        after.fit.covers,
    )


def styles_of(rows: Sequence[Judged]) -> Styles:
    """Count what the outputs hold that were compared."""
    found = Prediction.objects.filter(
        submission__in={pk for row in rows for pk in (row.first, row.second)},
        instance__in={row.instance for row in rows},
    ).values_list("submission_id", "instance_id", "text")
    counted: dict[str, Mapping[str, float] | None] = {"": None}
    styles: dict[tuple[int, Any], Mapping[str, float] | None] = {}
    for submission, instance, text in found.iterator():
        if text not in counted:  # each different text once
            counted[text] = style_of(text)
        styles[submission, instance] = counted[text]
    return styles


def _shown(fit: BradleyTerry, place: int) -> Interval:
    """Give a system's strength; of two, its share, of which a tie is half a win."""
    if len(fit.strengths) != 2:
        return fit.interval(place)
    gap = fit.difference(place, 1 - place)

    def share(log_odds: float) -> float:
        over, under = np.exp(log_odds / 2), np.exp(-log_odds / 2)
        return float((over + fit.tie / 2) / (over + under + fit.tie))

    return Interval(
        share(gap.estimate),
        share(gap.low),
        share(gap.high),
        gap.confidence,
        gap.method,
        gap.covers,
        gap.n,
    )


def _moved(after: Adjusted) -> list[Moved]:
    return [
        Moved(
            WORDS.get(one.name, one.name),
            one.interval.estimate,
            one.interval.low,
            one.interval.high,
        )
        for one in after.effects
    ]
