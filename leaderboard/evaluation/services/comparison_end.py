"""The end of a comparison: its result is written, and the votes behind it are kept."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.comparison import Comparison, CountedVote
from leaderboard.evaluation.selectors.comparison_labels import (
    Votes,
    decide,
    labels_from,
    no_more_came,
    rule_of,
)
from leaderboard.stats.stopping.sequential import Decision

State = states.State


def result(found: Comparison, state: str, votes: Sequence[Votes]) -> Decision:
    """Say what the rule makes of these votes at an end of this kind."""
    labels = labels_from(found, votes, last=no_more_came(state))
    return decide(rule_of(found), [one for one in labels if one is not None])


@transaction.atomic
def write(
    found: Comparison, state: str, decision: Decision, votes: Sequence[Votes]
) -> None:
    """Write how it ended and from which votes; callers hold the comparison's row.

    Bans, appeals and rejections change later who counts. The decision stays as it was
    written, and it can be computed again only from the votes that counted then.
    """
    decided = decision.side != "undecided" and state == State.DECIDED
    found.better = decision.side if decided else ""
    found.n_labels = decision.n
    found.estimate = decision.estimate if decision.n else None
    found.low, found.high = decision.low, decision.high
    found.votes_kept = True
    found.save()
    CountedVote.objects.bulk_create(
        [
            CountedVote(pair_id=one.pair_pk, worker_id=worker, value=value)
            for one in votes
            for worker, value in zip(one.workers, one.values, strict=True)
        ],
        batch_size=1_000,
    )
