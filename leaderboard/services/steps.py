"""How a step runs as a job: once it fails for good, everybody who waits can see it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db.models import F, QuerySet

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from leaderboard.models import Submission
from leaderboard.services.lifecycle import NEXT_JOB, LostRace

logger = logging.getLogger(__name__)

# How often a step may fail with a reason, and how often it may not even come to an
# end because its process was killed, ran out of memory or out of time.
MAX_ATTEMPTS = 3
MAX_STARTS = 6

# Where each step sets out from; elsewhere it has nothing to do and nothing to say.
STATE_OF: dict[str, str] = {
    job.rpartition(".")[2]: state for state, job in NEXT_JOB.items()
}
_CUT_OFF = (
    f"This step was interrupted {MAX_STARTS} times before it finished: it was "
    "killed, or it needs more time or memory than is available. Staff can see "
    "it and try again."
)
_UNFAILED = {
    "n_attempts": 0,
    "failed_step": "",
    "failure": "",
    "failure_permanent": False,
}


def attempt(step: str, service: Callable[[int], object], pk: int) -> None:
    """Run a step's service; note a failure on the submission instead of losing it.

    `advance` tries again what is not permanent, at most three times in all. Attempts
    are counted before they are made: one that kills its process counts, too.
    """
    if not _begun(step, pk):
        return
    try:
        service(pk)
    except LostRace:
        return
    except GenieError as error:
        if note_failure(step, pk, error.message, permanent=error.permanent):
            logger.warning("Step %s of submission %s: %s", step, pk, error.message)
    except Exception as error:
        noted = note_failure(
            step,
            pk,
            f"An internal error stopped this step ({type(error).__name__}: "
            f"{told(error)}). Staff can see it and try again.",
            permanent=False,
        )
        if noted:
            logger.exception("Step %s of submission %s failed", step, pk)
    else:
        # A step that only looks (`collect`) does well for weeks between two failures.
        _here(step, pk).exclude(n_attempts=0).update(**_UNFAILED)


def note_failure(step: str, pk: int, sentence: str, *, permanent: bool) -> bool:
    """Write what went wrong, in words, where submitter and staff see it.

    False, and nothing written, when another process has done the step meanwhile.
    """
    noted = _here(step, pk).update(
        failed_step=step, failure=sentence, failure_permanent=permanent
    )
    _here(step, pk).filter(n_attempts__gte=MAX_ATTEMPTS).update(failure_permanent=True)
    if noted:
        _tell_of_the_money(pk)
    return bool(noted)


def _here(step: str, pk: int) -> QuerySet[Submission]:
    return Submission.objects.filter(pk=pk, state=STATE_OF[step])


def _begun(step: str, pk: int) -> bool:
    """Count the attempt; False when there is nothing to attempt, or no more."""
    waiting = _here(step, pk).filter(failure_permanent=False)
    if waiting.filter(n_attempts__gte=MAX_STARTS).exists():
        note_failure(step, pk, _CUT_OFF, permanent=True)
        logger.error("Step %s of submission %s never comes to an end", step, pk)
        return False
    return bool(waiting.update(n_attempts=F("n_attempts") + 1))


def _tell_of_the_money(pk: int) -> None:
    failed = Submission.objects.filter(
        pk=pk, failed_step="launch", failure_permanent=True, approved_cents__gt=0
    ).first()
    if failed is not None and failed.approved_cents:
        failed.failure += (
            f" The ${failed.approved_cents / 100:,.2f} approved stay committed "
            "until it is retried or withdrawn."
        )
        failed.save(update_fields=["failure"])


def told(error: Exception) -> str:
    """Say what happened; not where on the server, which is nobody's business."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(error.strerror, 200)
    return one_line(error, 200)
