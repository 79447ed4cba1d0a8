from django.utils import timezone

from leaderboard.submissions.models import Submission
from leaderboard.submissions.services import lifecycle

State = Submission.State


def publish(pk: int) -> bool:
    """Go from SCORED to PUBLISHED; only its team sees a private submission."""
    private = Submission.objects.filter(
        pk=pk, visibility=Submission.Visibility.PRIVATE
    ).exists()
    return lifecycle.move(
        pk,
        State.SCORED,
        State.PUBLISHED,
        "The result is ready; the submission is private, so only the team can see it."
        if private
        else "The result is on the board.",
        published_at=timezone.now(),
    )
