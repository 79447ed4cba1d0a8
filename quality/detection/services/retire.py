"""Test questions that careful workers fail: retired with a note, restored by staff."""

from collections.abc import Sequence

from django.utils import timezone

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from quality.detection.models import DetectorFit, RetiredQuestion
from quality.test_questions.models import Grade


def retire(fit: DetectorFit, placements: Sequence[int]) -> int:
    """Retire these questions, except those that staff have restored; return the count.

    Their answers stay, and the next fit leaves them out.
    """
    known = RetiredQuestion.objects.filter(placement__in=placements)
    new = set(placements) - set(known.values_list("placement", flat=True))
    RetiredQuestion.objects.bulk_create(
        [
            RetiredQuestion(placement_id=pk, fit=fit, reason=_reason(pk))
            for pk in sorted(new)
        ],
        ignore_conflicts=True,
    )
    return len(new)


def _reason(placement: int) -> str:
    marks = list(
        Grade.objects.filter(placement=placement).values_list("correct", flat=True)
    )
    return (
        f"{sum(marks)} of {len(marks)} workers right. Workers who are careful elsewhere "
        "are more often wrong than right on it, so the key is probably wrong."
    )


def restore(pk: int, *, by: Account, reason: str) -> RetiredQuestion:
    """Let a retired question count again, permanently.

    Raises
    ------
    GenieError
        ``reason-missing`` or ``already-decided``.
    """
    if not reason.strip():
        raise GenieError("Give a reason for your decision.", code="reason-missing")
    restored = RetiredQuestion.objects.filter(pk=pk, restored_at=None).update(
        restored_at=timezone.now(), restored_by=by, restored_reason=reason
    )
    question = RetiredQuestion.objects.get(pk=pk)
    if not restored:
        raise GenieError(
            "This test question has already been restored.", code="already-decided"
        )
    return question
