"""Staff decide on questions about several systems: approve, decline, stop.

What is asked and what it costs differ between comparisons and joint evaluations; who may
decide when, and what is kept of it, does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from django.utils import timezone

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.models import Comparison, JointEvaluation
from leaderboard.services.steps_of_several import UNFAILED

Asked = TypeVar("Asked", Comparison, JointEvaluation)


def locked_to_approve(model: type[Asked], pk: int) -> Asked:
    """Lock what waits for its approval, or was declined before."""
    states = [model.State.REQUESTED, model.State.DECLINED]
    refusal = "only requested or declined ones can be approved", "not-approvable"
    return _locked(model, pk, states, refusal)


def decline(model: type[Asked], pk: int, *, by: Account, reason: str) -> Asked:
    """Say no, with the reason that who asked will read; within a transaction."""
    _check_reason(model, reason, "declined")
    refusal = "only requested ones can be declined", "not-declinable"
    found = _locked(model, pk, [model.State.REQUESTED], refusal)
    decide(found, model.State.DECLINED, by, reason)
    return found


def stop(model: type[Asked], pk: int, *, by: Account, reason: str) -> Asked:
    """Say that no more work goes out; within a transaction that stops the campaigns."""
    _check_reason(model, reason, "stopped")
    states = [model.State.APPROVED, model.State.RUNNING]
    found = _locked(model, pk, states, ("there is nothing to stop", "not-running"))
    decide(found, model.State.STOPPED, by, reason, finished_at=timezone.now())
    return found


def decide(
    found: Comparison | JointEvaluation,
    state: str,
    by: Account,
    reason: str,
    **fields: Any,
) -> None:
    """Write a decision down, with who made it and why."""
    type(found)._default_manager.filter(pk=found.pk).update(
        state=state,
        decided_by_id=by.pk,
        decision_reason=reason.strip(),
        **UNFAILED,
        **fields,
    )
    found.refresh_from_db()


def _locked(
    model: type[Asked], pk: int, states: Sequence[str], refusal: tuple[str, str]
) -> Asked:
    found: Asked = model._default_manager.select_for_update().get(pk=pk)
    if found.state not in states:
        sentence, code = refusal
        raise GenieError(
            f"This {_noun(model)} is {found.get_state_display()}; {sentence}.",
            code=code,
        )
    return found


def _check_reason(
    model: type[Comparison] | type[JointEvaluation], reason: str, done: str
) -> None:
    if not reason.strip():
        raise GenieError(
            f"Give a reason why the {_noun(model)} is {done}.", code="reason-missing"
        )


def _noun(model: type[Comparison] | type[JointEvaluation]) -> str:
    return str(model._meta.verbose_name)
