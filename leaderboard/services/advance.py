"""Pick up what was dropped: nothing stays where it is for ever."""

from __future__ import annotations

from django.db.models import Q

from crowd.models import Campaign
from crowd.services import run
from genie.lib import jobs
from leaderboard.models import Comparison, HumanEvaluation, JointEvaluation, Submission
from leaderboard.selectors.outdated import outdated, outdated_joint
from leaderboard.services.lifecycle import NEXT_JOB

State = Submission.State


def advance() -> int:
    """Queue the next step of every submission that waits for one; return how many."""
    run.start_due()
    waiting = (
        Submission.objects.filter(state__in=list(NEXT_JOB), failure_permanent=False)
        .order_by("pk")
        .values_list("pk", "state")
    )
    steps = [(NEXT_JOB[state], {"pk": pk}) for pk, state in waiting]
    # Looking whether people are done comes last: what was dropped waits for nobody.
    looks = NEXT_JOB[State.ANNOTATING]
    wanted = [step for step in steps if step[0] != looks]
    wanted += [("leaderboard.jobs.rescore", {"pk": pk}) for pk in outdated()]
    wanted += [("leaderboard.jobs.top_up", {"pk": pk}) for pk in _reopened()]
    wanted += [("leaderboard.jobs.compare", {"pk": pk}) for pk in _comparing()]
    wanted += [step for step in steps if step[0] == looks]
    wanted += [("leaderboard.jobs.judge_together", {"pk": pk}) for pk in _joint()]
    return jobs.enqueue_missing(wanted)


def _joint() -> list[int]:
    """Find the joint evaluations that wait for people, or whose ratings changed."""
    state = JointEvaluation.State
    rows = JointEvaluation.objects.filter(failure_permanent=False)
    waiting = rows.filter(
        Q(state__in=[state.APPROVED, state.RUNNING]) | Q(pk__in=outdated_joint())
    )
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def _comparing() -> list[int]:
    """Find the comparisons that wait for their next wave, or for people."""
    asking = [Comparison.State.APPROVED, Comparison.State.RUNNING]
    return list(
        Comparison.objects.filter(state__in=asking, failure_permanent=False)
        .order_by("pk")
        .values_list("pk", flat=True)
    )


def _reopened() -> list[int]:
    """Find published submissions whose campaign asks again, or was stopped at that."""
    asks = Campaign.objects.filter(
        Q(state=Campaign.State.RUNNING)
        | Q(state=Campaign.State.STOPPED, completed_at=None)
    ).values("pk")
    found = HumanEvaluation.objects.filter(
        Q(campaign__in=asks) | Q(separate_campaigns__campaign__in=asks),
        submission__state=State.PUBLISHED,
    )
    return sorted(set(found.values_list("submission_id", flat=True)))
