"""Whether the draw of a task's judged instances may be told to everybody."""

from crowd.hits.models.campaign import Campaign
from crowd.workers.models.qualification_test import QualificationTest
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task

OVER = (Campaign.State.COMPLETE, Campaign.State.STOPPED)
ABOUT_TO_ASK = (Submission.State.APPROVED, Submission.State.ANNOTATING)


def sample_is_public(task: Task) -> bool:
    """Tell whether nobody is asked anything of the task, nor will be shortly.

    Test questions are made of the instances that the sample leaves out, in the order
    of the draw. Whoever has its seed can recompute that order and recognise them, in
    campaigns and in qualification tests alike.
    """
    open_campaigns = Campaign.objects.filter(pool=task.slug).exclude(state__in=OVER)
    tests = QualificationTest.objects.filter(pool=task.slug).exclude(
        state=QualificationTest.State.RETIRED
    )
    soon = Submission.objects.filter(task=task, state__in=ABOUT_TO_ASK)
    return not (open_campaigns.exists() or tests.exists() or soon.exists())
