"""How the steps of comparisons and joint evaluations run: what fails is seen, and ends.

As with a submission's steps, `advance` tries again what is not permanent, at most three
times in all; attempts are counted before they are made.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.models import Comparison, JointEvaluation
from leaderboard.services.steps import MAX_ATTEMPTS, MAX_STARTS, told

logger = logging.getLogger(__name__)

Model = type[Comparison] | type[JointEvaluation]
_CUT_OFF = (
    f"A step was interrupted {MAX_STARTS} times before it finished: it was "
    "killed, or it needs more time or memory than is available. Staff can see "
    "it and try again."
)
UNFAILED: dict[str, Any] = {"n_attempts": 0, "failure": "", "failure_permanent": False}


def attempt(model: Model, service: Callable[[int], object], pk: int) -> None:
    """Run what comes next for a row; note a failure there instead of losing it."""
    if not _begun(model, pk):
        return
    name = model._meta.verbose_name
    try:
        service(pk)
    except GenieError as error:
        _note(model, pk, error.message, permanent=error.permanent)
        logger.warning("A step of %s %s: %s", name, pk, error.message)
    except Exception as error:
        sentence = (
            f"An internal error stopped this step ({type(error).__name__}: "
            f"{told(error)}). Staff can see it and try again."
        )
        _note(model, pk, sentence, permanent=False)
        logger.exception("A step of %s %s failed", name, pk)
    else:
        # A row waits for people for weeks, looked at every minute.
        _row(model, pk).exclude(n_attempts=0).update(**UNFAILED)


@transaction.atomic
def retry(model: Model, pk: int, *, job: str) -> None:
    """Clear the failure and queue the step once more."""
    found = model._default_manager.select_for_update().get(pk=pk)
    if not found.failure:
        raise GenieError(
            f"“{found}” did not fail; there is nothing to retry.",
            code="nothing-to-retry",
        )
    _row(model, pk).update(**UNFAILED)
    jobs.enqueue(job, pk=pk)


def _row(model: Model, pk: int) -> QuerySet[Any]:
    return model._default_manager.filter(pk=pk)


def _begun(model: Model, pk: int) -> bool:
    """Count the attempt; False when there is none to make any more."""
    waiting = _row(model, pk).filter(failure_permanent=False)
    if waiting.filter(n_attempts__gte=MAX_STARTS).exists():
        _note(model, pk, _CUT_OFF, permanent=True)
        logger.error("%s %s never comes to an end", model._meta.verbose_name, pk)
        return False
    return bool(waiting.update(n_attempts=F("n_attempts") + 1))


def _note(model: Model, pk: int, sentence: str, *, permanent: bool) -> None:
    _row(model, pk).update(failure=sentence, failure_permanent=permanent)
    _row(model, pk).filter(n_attempts__gte=MAX_ATTEMPTS).update(failure_permanent=True)
