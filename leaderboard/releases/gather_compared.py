"""Comparisons in a release: how they ended, their pairs, and every vote."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.models import ComparedPair, Comparison, CountedVote, Task
from leaderboard.releases.bundle import Record
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.selectors.compared import ENDED, comparisons_seen_by
from leaderboard.selectors.compared_labels import (
    for_a,
    kept_votes,
    labels_from,
    no_more_came,
    rule_of,
)
from leaderboard.services import compare
from quality.selectors.clean_ratings import all_ratings_of

COMPARISONS = (
    "comparison",
    "criterion",
    "question",
    "a",
    "b",
    "state",
    "better",
    "n_labels",
    "estimate",
    "low",
    "high",
    "anytime_valid",
    "delta",
    "rule",
    "strategy",
    "n_workers",
    "n_labels_in",
    "n_votes",
    "n_pairs",
    "n_waves",
    "wave_size",
    "max_pairs",
    "all_pairs",
    "all_pairs_delta",
    "simulated",
    "finished",
    "votes_kept",
)
PAIRS = (
    "comparison",
    "position",
    "wave",
    "instance",
    "slot_of_a",
    "label",
    "used",
)
VOTES = (
    "comparison",
    "position",
    "worker",
    "answered",
    "vote",
    "counted",
    "why_not",
    "on",
)


def ended(task: Task) -> list[Comparison]:
    """Give the comparisons that are over and whose page everybody may see."""
    rows = comparisons_seen_by(None, task).filter(evaluation__state__in=ENDED)
    return list(rows.order_by("pk"))


def comparisons(task: Task, found: Sequence[Comparison]) -> list[Record]:
    """Give each comparison as it ended; what it cost is not told."""
    questions = compare.criteria_of(task) if found else {}
    return [_comparison(one, questions) for one in found]


def _comparison(one: Comparison, questions: dict[str, str]) -> Record:
    votes = kept_votes(one)
    labels = labels_from(one, votes, last=no_more_came(one.state))
    return {
        "comparison": one.pk,
        "criterion": one.criterion,
        "question": questions.get(one.criterion, ""),
        "a": one.a_id,
        "b": one.b_id,
        "state": one.state,
        "better": one.better,
        "n_labels": one.n_labels,
        "estimate": one.estimate,
        "low": one.low,
        "high": one.high,
        "anytime_valid": rule_of(one).anytime_valid,
        "delta": one.delta,
        "rule": one.rule,
        "strategy": one.strategy,
        "n_workers": one.n_workers,
        "n_labels_in": sum(label is not None for label in labels),
        "n_votes": sum(len(vote.values) for vote in votes),
        "n_pairs": len(votes),
        "n_waves": one.n_waves,
        "wave_size": one.wave_size,
        "max_pairs": one.max_pairs,
        "all_pairs": one.within_id,
        "all_pairs_delta": one.within.delta if one.within else None,
        "simulated": one.simulated,
        "finished": f"{one.finished_at:%Y-%m-%d}" if one.finished_at else None,
        "votes_kept": one.votes_kept,
    }


def pairs(found: Sequence[Comparison]) -> list[Record]:
    """Give the pairs in the random order in which their labels are read."""
    return [record for one in found for record in _pairs(one)]


def _pairs(one: Comparison) -> list[Record]:
    rows = ComparedPair.objects.filter(comparison=one).order_by("position")
    about = rows.values_list(
        "position", "wave", "judged_item__instance__instance_id", "slot_of_a"
    )
    labels = labels_from(one, kept_votes(one), last=no_more_came(one.state))
    records: list[Record] = []
    n = 0
    for (position, wave, instance, slot), label in zip(about, labels, strict=True):
        used = label is not None and n < one.n_labels
        n += label is not None
        records.append(
            {
                "comparison": one.pk,
                "position": position,
                "wave": wave,
                "instance": instance,
                "slot_of_a": slot,
                "label": label,
                "used": used if one.votes_kept else None,
            }
        )
    return records


def votes(found: Sequence[Comparison], names: Pseudonyms) -> list[Record]:
    """Give all votes of each pair; their order tells nothing of workers."""
    return [record for one in found for record in _votes(one, names)]


def _votes(one: Comparison, names: Pseudonyms) -> list[Record]:
    if not one.evaluation.campaigns_in_order:
        return []
    pair_of = {
        item: (pk, position, slot)
        for pk, item, position, slot in ComparedPair.objects.filter(
            comparison=one
        ).values_list("pk", "judged_item__item_id", "position", "slot_of_a")
    }
    counted = set(
        CountedVote.objects.filter(pair__comparison=one).values_list("pair", "worker")
    )
    ratings = all_ratings_of([one.evaluation.campaign.pk])
    ratings = ratings[ratings["criterion"] == one.criterion]
    records: list[Record] = []
    for row in ratings.to_dict("records"):
        pk, position, slot = pair_of[int(row["item"])]
        worker, answered = int(row["worker"]), float(row["value"])
        records.append(
            {
                "comparison": one.pk,
                "position": position,
                "worker": names.of(worker),
                "answered": answered,
                "vote": for_a(slot, answered),
                "counted": (pk, worker) in counted if one.votes_kept else None,
                "why_not": row["why_not"],
                "on": row["on"],
            }
        )
    return sorted(records, key=lambda record: (record["position"], record["worker"]))
