"""The end of a comparison: its result and the votes behind it are stored."""

from collections.abc import Sequence

from django.db import transaction

from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.comparison import Comparison, CountedVote
from leaderboard.evaluation.selectors.comparison_labels import (
    Votes,
    decide,
    labels_from,
    rule_of,
    votes_are_final,
    with_balanced_sides,
)
from leaderboard.evaluation.services import public_log
from leaderboard.stats.stopping.sequential import Decision

State = states.State


def result(comparison: Comparison, state: str, votes: Sequence[Votes]) -> Decision:
    labels = labels_from(comparison, votes, last=votes_are_final(state))
    return decide(rule_of(comparison), [label for label in labels if label is not None])


@transaction.atomic
def write(
    comparison: Comparison, state: str, decision: Decision, votes: Sequence[Votes]
) -> None:
    """Store the end and its votes; the caller has locked the comparison's row.

    Later bans, appeals and rejections change who counts. The decision stays as stored,
    and only these votes can reproduce it.
    """
    comparison.sides_balanced = comparison.task.configuration.comparison.correct_side
    if comparison.sides_balanced:
        labels = labels_from(comparison, votes, last=votes_are_final(state))
        slots = [pair.slot_of_a for pair in votes]
        decision = with_balanced_sides(decision, labels, slots)
    # A comparison that staff stopped has no decision, whatever its labels are.
    decided = decision.side != "undecided" and state == State.DECIDED
    comparison.better = decision.side if decided else ""
    comparison.n_labels = decision.n
    comparison.estimate = decision.estimate if decision.n else None
    comparison.low, comparison.high = decision.low, decision.high
    comparison.votes_kept = True
    comparison.save()
    public_log.result(
        comparison,
        state=state,
        better=comparison.better,
        n_labels=comparison.n_labels,
        estimate=comparison.estimate,
        low=comparison.low,
        high=comparison.high,
    )
    CountedVote.objects.bulk_create(
        [
            CountedVote(pair_id=pair.pair_pk, worker_id=worker, value=value)
            for pair in votes
            for worker, value in zip(pair.workers, pair.values, strict=True)
        ],
        batch_size=1_000,
    )
