"""Run a step as a job; a final failure is shown to the people who wait for it.

Steps of submissions and of human evaluations use it. `advance` tries again what is not
permanent, at most three times in all. Attempts are counted before they start, so that
an attempt that kills its process counts, too.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db.models import F, Model, QuerySet

from genie.lib.errors import GenieError
from genie.lib.logs import one_line

logger = logging.getLogger(__name__)

# How often a step may fail with a reason, and how often it may be interrupted
# because its process was killed, or ran out of memory or time.
MAX_ATTEMPTS = 3
MAX_STARTS = 6

_INTERRUPTED = (
    f"This step was interrupted {MAX_STARTS} times before it finished: it was killed, or "
    "it needs more time or memory than is available. Staff can see it and retry it."
)
UNFAILED: dict[str, Any] = {
    "n_attempts": 0,
    "failed_step": "",
    "failure": "",
    "failure_permanent": False,
}


class LostRace(Exception):
    """Another process did the step first: roll back this one's writes."""


class Attempt:
    """One step of one row, which is found only in the step's initial state.

    In any other state the step does nothing.
    """

    def __init__(self, model: type[Model], pk: int, state: str, step: str) -> None:
        self.pk = pk
        self.step = step
        self.row: QuerySet[Any] = model._default_manager.filter(pk=pk, state=state)

    def write(self, row: QuerySet[Any], **fields: Any) -> int:
        """Change the row if it is still in the state; subclasses update related ones."""
        return row.update(**fields)

    def run(self, service: Callable[[], object]) -> None:
        """Run the service; store a failure on the row."""
        if not self._begun():
            return
        try:
            service()
        except LostRace:
            pass
        except GenieError as error:
            if self.note(error.message, permanent=error.permanent):
                logger.warning("%s: %s", self, error.message)
        except Exception as error:
            noted = self.note(
                f"An internal error stopped this step ({type(error).__name__}: "
                f"{_in_words(error)}). Staff can see it and try again.",
                permanent=False,
            )
            if noted:
                logger.exception("%s failed", self)
        else:
            # A repeated step may succeed for weeks between two failures, which are
            # unrelated.
            self.write(self.row.exclude(n_attempts=0), **UNFAILED)

    def note(self, sentence: str, *, permanent: bool) -> bool:
        """Store a failure as a sentence for the people who wait and for staff.

        Return False, without writing, if another process has done the step meanwhile.
        """
        # The current attempt was counted before it began, and is included.
        final = permanent or self.row.filter(n_attempts__gte=MAX_ATTEMPTS).exists()
        return bool(
            self.write(
                self.row,
                failed_step=self.step,
                failure=self.last_words(sentence) if final else sentence,
                failure_permanent=final,
            )
        )

    def last_words(self, sentence: str) -> str:
        """Return the sentence of a final failure; subclasses add its consequences."""
        return sentence

    def _begun(self) -> bool:
        """Count the attempt; return False if there is none to make."""
        waiting = self.row.filter(failure_permanent=False)
        if waiting.filter(n_attempts__gte=MAX_STARTS).exists():
            self.note(_INTERRUPTED, permanent=True)
            logger.error("%s never comes to an end", self)
            return False
        return bool(waiting.update(n_attempts=F("n_attempts") + 1))

    def __str__(self) -> str:
        return f"Step {self.step} of {self.row.model._meta.verbose_name} {self.pk}"


def _in_words(error: Exception) -> str:
    """Return the error's text without paths of the server."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(error.strerror, 200)
    return one_line(error, 200)
