"""Take a submission back: off the board, no more work, what was done stays paid."""

from __future__ import annotations

from django.db import transaction

from crowd.selectors.progress import campaign_progress
from crowd.services import fund, run
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.models import HumanEvaluation, Submission
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.services import lifecycle
from leaderboard.services.approve import commitment_key


def withdraw(pk: int, *, by: Account, reason: str) -> None:
    """Withdraw a submission whatever its state; its campaign stops."""
    with transaction.atomic():
        submission = Submission.objects.select_for_update().get(pk=pk)
        if Submission.State.WITHDRAWN not in lifecycle.LEGAL[submission.state]:
            raise GenieError(
                f"This submission is {submission.get_state_display()} and cannot be "
                "withdrawn.",
                code="not-withdrawable",
            )
        moved = lifecycle.move(
            pk,
            submission.state,
            Submission.State.WITHDRAWN,
            f"Withdrawn: {reason}" if reason else "Withdrawn.",
            by=by,
        )
        if moved:
            _close_account(pk, by)


def _close_account(pk: int, by: Account) -> None:
    """Stop the campaign if there is one, and free the money that it did not spend."""
    evaluation = (
        HumanEvaluation.objects.filter(submission_id=pk)
        .select_related("campaign__hit_type")
        .first()
    )
    if evaluation is None:
        fund.release(commitment_key(pk))
        return
    for campaign in campaigns_of(evaluation):
        run.stop(campaign.pk, by=by, reason="The submission was withdrawn.")
        fund.settle(campaign.key, campaign_progress(campaign).spent_cents)
