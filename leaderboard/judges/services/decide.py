"""Decisions on a run: its spending limit, and which texts may be sent."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.runner import Runner
from genie.lib.typing import Account
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.money import left_cents

State = JudgeRun.State
RUNNER = Runner(
    JudgeRun,
    "leaderboard.jobs.judge",
    states=[State.RUNNING],
    failed=State.STOPPED,
    # until the first check of the run renews it
    lease=timedelta(minutes=1),
)


def approve(
    run: JudgeRun,
    *,
    by: Account | None,
    cents: int | None = None,
    reason: str = "",
    references: bool = False,
    private: bool = False,
) -> bool:
    """Allow a run to cost at most `cents`; False if it was decided before.

    Raises GenieError ``not-said`` if it would send hidden references or private outputs
    without permission, ``over-budget`` if less is left, or without a budget.
    """
    if (run.with_references, run.with_private) != (references, private):
        raise GenieError(
            "Confirm which texts are sent to the endpoint. Hidden references: "
            f"{_word(run.with_references)}; private outputs: "
            f"{_word(run.with_private)}.",
            code="not-said",
        )
    cents = run.most_cents if cents is None else cents
    if cents < 0:
        raise GenieError("An amount cannot be negative.", code="bad-amount")
    with transaction.atomic():
        if cents:
            _insist_on_budget(run, cents)
        changed = _turn(
            run,
            [State.ASKED],
            State.RUNNING,
            approved_cents=cents,
            decided_by_id=by.pk if by else None,
            decided_at=timezone.now(),
            decision_reason=reason[:1000],
        )
        if changed:
            jobs.enqueue(RUNNER.job, pk=run.pk)
    return changed


def decline(run: JudgeRun, *, by: Account | None, reason: str = "") -> bool:
    """Decline a run, or end a stopped one: its answers are kept for other runs."""
    return _turn(
        run,
        [State.ASKED, State.STOPPED],
        State.DECLINED,
        decided_by_id=by.pk if by else None,
        decided_at=timezone.now(),
        decision_reason=reason[:1000],
    )


def stop(run: JudgeRun) -> bool:
    """Stop a run; answers to requests already sent are still stored."""
    return _turn(run, [State.RUNNING], State.STOPPED)


def resume(run: JudgeRun, *, cents: int | None = None) -> bool:
    with transaction.atomic():
        # from the database, not from an old page: an approved amount never decreases
        stopped = JudgeRun.objects.filter(pk=run.pk, state=State.STOPPED)
        row = stopped.select_for_update(of=("self",)).first()
        if row is None:
            return False
        more: dict[str, int] = {}
        if cents is not None and cents > row.approved_cents:
            _insist_on_budget(run, cents - row.approved_cents)
            more = {"approved_cents": cents}
        # not before its last process has taken in what it asked
        RUNNER.retry(stopped, next_at=F("next_at"), **more)
        jobs.enqueue(RUNNER.job, pk=run.pk)
    return True


def _insist_on_budget(run: JudgeRun, cents: int) -> None:
    left = left_cents(run.task, run.judge)
    if left is None:
        raise GenieError(
            f"Judges have no budget on {run.task}. Set one first.", code="over-budget"
        )
    if cents > left:
        raise GenieError(
            f"{cents} cents are requested, but only {max(0, left)} are left in the "
            f"budget for judges on {run.task}.",
            code="over-budget",
        )


def _turn(run: JudgeRun, old: list[State], new: State, **fields: object) -> bool:
    rows = JudgeRun.objects.filter(pk=run.pk, state__in=old)
    return bool(rows.update(state=new, **fields))


def _word(said: bool) -> str:
    return "yes" if said else "no"
