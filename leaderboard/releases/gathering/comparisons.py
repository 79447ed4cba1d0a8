from collections.abc import Iterator, Sequence

from leaderboard.evaluation.models.comparison import (
    ComparedPair,
    Comparison,
    CountedVote,
)
from leaderboard.evaluation.selectors.comparison_labels import (
    answers_read,
    days_of,
    for_a,
    kept_votes,
    labels_from,
    rule_of,
    share_columns,
    share_of,
    votes_are_final,
)
from leaderboard.evaluation.selectors.comparisons import ENDED, comparisons_seen_by
from leaderboard.evaluation.services.comparison import criteria_of
from leaderboard.releases.bundle import Record
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.stats.systems.estimates import Population
from leaderboard.tasks.models import Task
from quality.bans.selectors import all_ratings_of

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
    "answers_share",
    "answers_low",
    "answers_high",
    "answers_covers",
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
    "sides_balanced",
)
PAIRS = ("comparison", "position", "wave", "instance", "slot_of_a", "label", "used")
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


def ended_comparisons(task: Task) -> list[Comparison]:
    return list(comparisons_seen_by(None, task).filter(state__in=ENDED).order_by("pk"))


def comparisons(task: Task, rows: Sequence[Comparison]) -> Iterator[Record]:
    """Yield each comparison as it ended, without its cost."""
    questions = criteria_of(task) if rows else {}
    return (_comparison(comparison, questions) for comparison in rows)


def _comparison(comparison: Comparison, questions: dict[str, str]) -> Record:
    votes = kept_votes(comparison)
    labels = labels_from(comparison, votes, last=votes_are_final(comparison.state))
    read = answers_read(votes, labels, comparison.n_labels, days_of(comparison))
    within, result = comparison.within, comparison.result
    return {
        "comparison": comparison.pk,
        "criterion": comparison.criterion,
        "question": questions.get(comparison.criterion, ""),
        "a": comparison.a_id,
        "b": comparison.b_id,
        "state": comparison.state,
        "better": comparison.better,
        "n_labels": comparison.n_labels,
        "estimate": result.mean if result else None,
        "low": result.low if result else 0.0,
        "high": result.high if result else 1.0,
        **share_columns(share_of(read, Population(comparison.task.human.population))),
        "anytime_valid": rule_of(comparison).anytime_valid,
        "delta": comparison.delta,
        "rule": comparison.rule,
        "strategy": comparison.strategy,
        "n_workers": comparison.n_workers,
        "n_labels_in": sum(label is not None for label in labels),
        "n_votes": sum(len(vote.values) for vote in votes),
        "n_pairs": len(votes),
        "n_waves": comparison.n_waves,
        "wave_size": comparison.wave_size,
        "max_pairs": comparison.max_pairs,
        "all_pairs": comparison.within_id,
        "all_pairs_delta": within.delta if within else None,
        "simulated": comparison.simulated,
        "finished": f"{comparison.finished_at:%Y-%m-%d}"
        if comparison.finished_at
        else None,
        "votes_kept": comparison.votes_kept,
        "sides_balanced": comparison.sides_balanced,
    }


def pairs(rows: Sequence[Comparison]) -> Iterator[Record]:
    """Yield the pairs in the random order in which their labels are read."""
    return (record for comparison in rows for record in _pairs(comparison))


def _pairs(comparison: Comparison) -> list[Record]:
    rows = ComparedPair.objects.filter(comparison=comparison).order_by("position")
    about = rows.values_list(
        "position", "wave", "subject__instance__instance_id", "slot_of_a"
    )
    labels = labels_from(
        comparison, kept_votes(comparison), last=votes_are_final(comparison.state)
    )
    records: list[Record] = []
    n = 0
    for (position, wave, instance, slot), label in zip(about, labels, strict=True):
        # labels are read in the stored order up to the decision; later ones did not
        # count
        used = label is not None and n < comparison.n_labels
        n += label is not None
        records.append(
            {
                "comparison": comparison.pk,
                "position": position,
                "wave": wave,
                "instance": instance,
                "slot_of_a": slot,
                "label": label,
                "used": used if comparison.votes_kept else None,
            }
        )
    return records


def votes(rows: Sequence[Comparison], names: Pseudonyms) -> Iterator[Record]:
    """Yield all votes of each pair; their order does not identify workers."""
    return (record for comparison in rows for record in _votes(comparison, names))


def _votes(comparison: Comparison, names: Pseudonyms) -> list[Record]:
    if not comparison.campaigns_in_order:
        return []
    pair_of = {
        item: (pk, position, slot)
        for pk, item, position, slot in ComparedPair.objects.filter(
            comparison=comparison
        ).values_list("pk", "subject__item_id", "position", "slot_of_a")
    }
    counted = set(
        CountedVote.objects.filter(pair__comparison=comparison).values_list(
            "pair", "worker"
        )
    )
    ratings = all_ratings_of([comparison.campaign.pk])
    ratings = ratings[ratings["criterion"] == comparison.criterion]
    records: list[Record] = []
    for row in ratings.to_dict("records"):
        pk, position, slot = pair_of[int(row["item"])]
        worker, answered = int(row["worker"]), float(row["value"])
        records.append(
            {
                "comparison": comparison.pk,
                "position": position,
                "worker": names.pseudonym_of(worker),
                "answered": answered,
                "vote": for_a(slot, answered),
                "counted": (pk, worker) in counted if comparison.votes_kept else None,
                "why_not": row["why_not"],
                "on": row["on"],
            }
        )
    return sorted(records, key=lambda record: (record["position"], record["worker"]))
