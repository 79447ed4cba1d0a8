"""Comparisons and joint evaluations, adjusted for length, Markdown and position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from typing import NamedTuple

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
# Place on the page, instance, submission, rating.
_Output = tuple[tuple[int, str], int, int, float]
_OF_PAGE = ["item", "worker", "submission", "value"]


class Judged(NamedTuple):
    """What one worker said of two outputs of an instance; 1: the first is better."""

    worker: int
    instance: int
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
    rows = []
    for pair in votes_shown(comparison):
        a_first = pair.slot_of_a == FIRST_SLOT
        first, second = both if a_first else both[::-1]
        for worker, for_a in zip(pair.workers, pair.values, strict=True):
            better = int(np.sign(for_a - MIDDLE)) * (1 if a_first else -1)
            rows.append(Judged(worker, instances[pair.pair_pk], first, second, better))
    return _adjusted(rows, list(both))


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
        # Z comes before AA
        (item, submission): ((len(slot), slot), instance)
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
        rows: list[Judged] = []
        columns = [of_criterion[name].tolist() for name in _OF_PAGE]
        pages: dict[tuple[int, int], list[_Output]] = {}
        for item, worker, pk, value in zip(*columns, strict=True):
            output = (*place[item, pk], pk, value)
            pages.setdefault((item, worker), []).append(output)
        for (_, worker), shown in pages.items():
            rows += [
                Judged(worker, instance, a, b, int(np.sign(of_a - of_b)))
                for (_, instance, a, of_a), (_, _, b, of_b) in combinations(
                    sorted(shown), 2
                )
            ]
        if (adjusted := _adjusted(rows, systems)) is not None:
            found[str(criterion)] = adjusted
    return found


def _adjusted(rows: Sequence[Judged], systems: list[int]) -> AdjustedStrengths | None:
    """Fit with and without covariates; None without texts, or without strengths."""
    if not rows:
        return None
    texts = _texts(rows, systems)
    shown = {(pk, row.instance) for row in rows for pk in (row.first, row.second)}
    if not shown <= texts.keys():
        # judgments made elsewhere may have come without texts
        return None
    number = {pk: place for place, pk in enumerate(systems)}
    games = compare(
        [number[row.first] for row in rows],
        [number[row.second] for row in rows],
        [row.outcome for row in rows],
        len(systems),
    )
    workers = [row.worker for row in rows]
    first = [texts.get((row.first, row.instance), "") for row in rows]
    second = [texts.get((row.second, row.instance), "") for row in rows]
    styles = {text: style_of(text) for text in {*first, *second}}
    # judgments of others may have come without texts: then the side is all there is
    known = all(first) and all(second)
    differences = style_differences(styles, first, second) if known else {}
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


def _texts(rows: Sequence[Judged], systems: list[int]) -> Mapping[tuple[int, int], str]:
    found = Prediction.objects.filter(
        submission__in=systems, instance__in={row.instance for row in rows}
    ).values_list("submission_id", "instance_id", "text")
    return {(submission, instance): text for submission, instance, text in found}


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
