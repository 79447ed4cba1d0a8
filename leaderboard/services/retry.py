"""Let a failed step run again."""

from __future__ import annotations

from django.db import transaction

from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.models import Submission
from leaderboard.services import lifecycle


def retry(pk: int, *, by: Account | None = None) -> None:
    """Clear the failure and queue the step of the present state."""
    with transaction.atomic():
        submission = Submission.objects.select_for_update().get(pk=pk)
        job = lifecycle.NEXT_JOB.get(submission.state)
        if not submission.failed or job is None:
            raise GenieError(
                f"{submission.system_name} did not fail; there is nothing to retry.",
                code="nothing-to-retry",
            )
        Submission.objects.filter(pk=pk).update(
            n_attempts=0, failed_step="", failure="", failure_permanent=False
        )
        lifecycle.tell(pk, submission.state, "Retrying the failed step.", by=by)
        jobs.enqueue(job, pk=pk)
