"""From votes to labels: one number a pair, in the pairs' stored random order."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from genie.lib.interval import Interval
from leaderboard.evaluation.models.comparison import (
    ComparedPair,
    Comparison,
    CountedVote,
)
from leaderboard.stats.stopping.sequential import Comparison as Series
from leaderboard.stats.stopping.sequential import Decision, LiveRule, rule_named
from leaderboard.stats.systems.estimates import Population
from leaderboard.stats.systems.preferred_share import preferred_share
from quality.bans.selectors import all_ratings_of, clean_ratings

Strategy = Comparison.Strategy
FIRST_SLOT = "A"
MIDDLE = 0.5
# Digits of a share that do not depend on the order of a machine's summation.
DIGITS = 9
# Worker, pair, 1 for A, 0 for B, one half for a tie, and the day.
Answer = tuple[Hashable, int, float, str]
# The day on which a worker answered about an item.
Days = Mapping[tuple[int, int], str]


@dataclass(frozen=True)
class Votes:
    """Votes on one pair: 1 for A, 0 for B, in the order of the workers."""

    pair_pk: int
    item_pk: int
    position: int
    wave: int
    workers: tuple[int, ...]
    values: tuple[float, ...]
    slot_of_a: str = FIRST_SLOT


@dataclass(frozen=True)
class AnswerShare(Interval):
    """The share of answers for A; `covers` is the population of its interval."""

    covers: str
    n_answers: int
    n_workers: int

    @property
    def leaves_open(self) -> bool:
        """Check whether the interval includes one half."""
        return self.contains(MIDDLE)


def rule_of(comparison: Comparison) -> LiveRule:
    return rule_for(comparison.rule, comparison.delta)


def rule_for(name: str, delta: float) -> LiveRule:
    """Return a stopping rule; `delta` covers both sides, rules take one side's."""
    return rule_named(name, delta / 2)


def n_workers_at_first(strategy: str, n_workers: int) -> int:
    if strategy == Strategy.MAJORITY:
        return n_workers
    return 2 if strategy == Strategy.MAX_THREE else 1


def n_workers_at_most(strategy: str, n_workers: int) -> int:
    return (
        3 if strategy == Strategy.MAX_THREE else n_workers_at_first(strategy, n_workers)
    )


def needs_third(strategy: str, values: Sequence[float]) -> bool:
    return (
        strategy == Strategy.MAX_THREE
        and len(values) == 2
        and sum(values) == MIDDLE * 2
    )


def label_of(
    strategy: str, n_workers: int, values: Sequence[float], *, last: bool = False
) -> float | None:
    """Return a pair's label; None while votes are missing.

    With `last`, the present votes have to suffice.
    """
    n_votes = n_workers_at_first(strategy, n_workers) + needs_third(strategy, values)
    if not values or (len(values) < n_votes and not last):
        return None
    if len(values) == 1:
        return values[0]
    share = sum(values) / len(values)
    # Two disagree without a third vote: a tie.
    if share == MIDDLE:
        return MIDDLE
    return 1.0 if share > MIDDLE else 0.0


def votes_of(comparison: Comparison) -> list[Votes]:
    """Return the votes that count now, by pair in the stored order."""
    if not comparison.campaigns_in_order:
        return []
    ratings = clean_ratings(comparison.campaign)
    ratings = ratings[ratings["criterion"] == comparison.criterion]
    pairs = {pair.item_pk: pair for pair in _pairs(comparison)}
    answers = (ratings[name].tolist() for name in ("item", "worker", "value"))
    return _with_votes(
        pairs.values(),
        [
            (pairs[item].pair_pk, worker, for_a(pairs[item].slot_of_a, value))
            for item, worker, value in zip(*answers, strict=True)
            if item in pairs
        ],
    )


def kept_votes(comparison: Comparison) -> list[Votes]:
    """Return the votes that counted when the comparison ended, in the same order."""
    rows = CountedVote.objects.filter(pair__comparison=comparison)
    rows = rows.order_by("pair_id", "worker_id")
    return _with_votes(
        _pairs(comparison), rows.values_list("pair_id", "worker_id", "value")
    )


def _with_votes(
    pairs: Iterable[Votes], answers: Iterable[tuple[int, int, float]]
) -> list[Votes]:
    votes: dict[int, list[tuple[int, float]]] = {}
    for pair, worker, value in answers:
        votes.setdefault(pair, []).append((worker, value))
    return [
        replace(
            pair,
            workers=tuple(worker for worker, _ in votes.get(pair.pair_pk, ())),
            values=tuple(value for _, value in votes.get(pair.pair_pk, ())),
        )
        for pair in pairs
    ]


def votes_shown(comparison: Comparison) -> list[Votes]:
    """Return the votes behind the displayed result: after the end, those kept then."""
    return kept_votes(comparison) if comparison.votes_kept else votes_of(comparison)


def for_a(slot_of_a: str, answered: float) -> float:
    """Turn a preference for the first of two texts into one for A.

    Examples
    --------
    >>> for_a("A", 1.0), for_a("B", 1.0), for_a("B", 0.5)
    (1.0, 0.0, 0.5)
    """
    return answered if slot_of_a == FIRST_SLOT else 1.0 - answered


def _pairs(comparison: Comparison) -> list[Votes]:
    rows = ComparedPair.objects.filter(comparison=comparison).order_by("position")
    columns = ("pk", "subject__item_id", "position", "wave", "slot_of_a")
    return [
        Votes(pk, item, position, wave, (), (), slot)
        for pk, item, position, wave, slot in rows.values_list(*columns)
    ]


def labels_from(
    comparison: Comparison, votes: Sequence[Votes], *, last: bool = False
) -> list[float | None]:
    return [
        label_of(comparison.strategy, comparison.n_workers, pair.values, last=last)
        for pair in votes
    ]


def days_of(comparison: Comparison) -> Days:
    """Return the UTC day on which each worker answered each item."""
    if not comparison.campaigns_in_order:
        return {}
    ratings = all_ratings_of([comparison.campaign.pk])
    ratings = ratings[ratings["criterion"] == comparison.criterion]
    return {
        (int(item), int(worker)): str(on)
        for item, worker, on in ratings[["item", "worker", "on"]].itertuples(
            index=False
        )
    }


def answers_read(
    votes: Sequence[Votes], labels: Sequence[float | None], n: int, days: Days
) -> list[Answer]:
    known = [v for v, label in zip(votes, labels, strict=True) if label is not None]
    return [
        (worker, pair.position, value, days.get((pair.item_pk, worker), ""))
        for pair in known[:n]
        for worker, value in zip(pair.workers, pair.values, strict=True)
    ]


def share_of(
    answers: Sequence[Answer],
    population: Population = Population.LIKE,
    *,
    crossed: bool = False,
) -> AnswerShare | None:
    if not answers:
        return None
    # results do not depend on workers' labels, here and in a release
    workers, pairs, values, days = zip(
        *sorted(answers, key=lambda answer: answer[1:]), strict=True
    )
    found = preferred_share(
        values, workers, pairs, days, crossed=crossed, population=population
    )
    return AnswerShare(
        round(found.estimate, DIGITS),
        round(found.low, DIGITS),
        round(found.high, DIGITS),
        found.covers,
        len(answers),
        len(set(workers)),
    )


def share_columns(found: AnswerShare | None) -> dict[str, float | str | None]:
    names = {"share": "estimate", "low": "low", "high": "high", "covers": "covers"}
    return {f"answers_{k}": getattr(found, name, None) for k, name in names.items()}


def with_balanced_sides(
    decision: Decision, labels: Sequence[float | None], slots: Sequence[str]
) -> Decision:
    """Estimate as if A had been shown on each side equally often; decide as before.

    Sides are drawn with equal chances, so the rule and its interval hold for this
    number as they do for the plain share; within the interval it does not depend on the
    draw (post-stratification; Miratrix, Sekhon and Yu 2013, JRSS B 75).
    """
    known = [
        (label, slot == FIRST_SLOT)
        for label, slot in zip(labels, slots, strict=True)
        if label is not None
    ][: decision.n]
    sides = [
        [label for label, first in known if first == side] for side in (True, False)
    ]
    if not all(sides):
        return decision
    share = sum(sum(labels) / len(labels) for labels in sides) / 2
    return replace(decision, estimate=min(max(share, decision.low), decision.high))


def votes_are_final(state: str) -> bool:
    """Check whether incomplete pairs count; after an early stop they do not."""
    return state in {Comparison.State.DECIDED, Comparison.State.UNDECIDED}


def known_labels(
    labels: Sequence[float | None], workers: Iterable[Sequence[Hashable]]
) -> tuple[list[float], list[Hashable]]:
    """Return the labels and the first worker of each; rules over workers have one."""
    pairs = zip(labels, workers, strict=True)
    known = [(label, each[0]) for label, each in pairs if label is not None]
    return [label for label, _ in known], [worker for _, worker in known]


def decide(
    rule: LiveRule,
    labels: Sequence[float],
    workers: Iterable[Hashable] = repeat(None),
) -> Decision:
    """Feed labels to the rule one at a time; labels after a decision are not used."""
    return Series(rule).extend(labels, workers)
