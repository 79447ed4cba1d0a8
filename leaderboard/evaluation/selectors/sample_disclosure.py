"""Whether the random sample of a task's instances may be disclosed."""

from crowd.hits.models import Campaign
from crowd.workers.models.qualification_test import QualificationTest
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

OVER = (Campaign.State.COMPLETE, Campaign.State.STOPPED)
ABOUT_TO_ASK = (Submission.State.APPROVED, Submission.State.ANNOTATING)


def sample_is_public(task: Task) -> bool:
    """Check that no worker is asked about the task, now or shortly.

    Test questions are made from the instances outside of the sample, in the order of
    the draw. With the seed, readers could recompute that order and recognize them in
    campaigns and in qualification tests.
    """
    open_campaigns = Campaign.objects.filter(pool=task.slug).exclude(state__in=OVER)
    tests = QualificationTest.objects.filter(pool=task.slug).exclude(
        state=QualificationTest.State.RETIRED
    )
    soon = Submission.objects.filter(task=task, state__in=ABOUT_TO_ASK)
    return not (open_campaigns.exists() or tests.exists() or soon.exists())
