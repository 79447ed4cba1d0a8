"""After a late ban: ask again for the ratings that were lost, and score once more."""

from __future__ import annotations

from django.db import transaction

from crowd.models import Campaign
from crowd.services import watch
from crowd.services.reopen import reopen as reopen_campaign
from genie.lib.errors import GenieError
from leaderboard.models import HumanEvaluation, Submission
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.services import closing, lifecycle, score
from leaderboard.services.asking import noisy_below
from quality.services import grade, judge

State = Submission.State


def reopen(pk: int) -> int:
    """Open the campaign of a published submission again where ratings were lost."""
    evaluation = HumanEvaluation.objects.get(submission_id=pk)
    try:
        with transaction.atomic():
            if lifecycle.lock(pk).state != State.PUBLISHED:
                return 0
            n = sum(reopen_campaign(c.pk) for c in campaigns_of(evaluation))
            if n:
                lifecycle.tell(
                    pk,
                    State.PUBLISHED,
                    f"{n:,} ratings by workers excluded later are being "
                    "collected again; the score will be updated.",
                )
    except GenieError as error:
        Campaign.objects.filter(pk=evaluation.campaign_id).update(
            notice=f"Excluded ratings were not collected again: {error.message}"[:300]
        )
        return 0
    return n


def finish(pk: int) -> bool:
    """Score a published submission again once its lost ratings are replaced."""
    evaluation = HumanEvaluation.objects.select_related(
        "campaign__hit_type", "submission", "task"
    ).get(submission_id=pk)
    asking = [campaign for campaign in campaigns_of(evaluation) if _asks(campaign)]
    if evaluation.one.state != State.PUBLISHED or not asking:
        return False
    for campaign in asking:
        grade.grade(campaign)
    judge.judge(
        asking[0].pool,
        simulated=asking[0].simulated,
        noisy_below=noisy_below(evaluation.task.human),
    )
    for campaign in asking:
        watch.watch(campaign)
    with transaction.atomic():
        lifecycle.lock(pk)
        if closing.close(asking) is None:
            return False
    # Should this process die here, `outdated` sees that the score is older.
    return score.rescore(pk)


def _asks(campaign: Campaign) -> bool:
    """Tell whether the campaign asks again, or was stopped and is not settled yet."""
    if campaign.state == Campaign.State.STOPPED:
        return campaign.completed_at is None
    return campaign.state == Campaign.State.RUNNING
