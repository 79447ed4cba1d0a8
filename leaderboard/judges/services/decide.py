"""Decisions on a run: its spending limit, and which texts may be sent."""

from django.db import transaction
from django.utils import timezone

from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.money import left_cents

JOB = "leaderboard.jobs.judge"
State = JudgeRun.State


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
            "Say at approval whether hidden references and private outputs go to the "
            f"endpoint: this run sends references: {_word(run.with_references)}; "
            f"private outputs: {_word(run.with_private)}.",
            code="not-said",
        )
    cents = run.most_cents if cents is None else cents
    if cents < 0:
        raise GenieError("An amount is not negative.", code="bad-amount")
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
            jobs.enqueue(JOB, pk=run.pk)
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
        _turn(run, [State.STOPPED], State.RUNNING, failure="", **more)
        jobs.enqueue(JOB, pk=run.pk)
    return True


def queue_missing() -> int:
    free = JudgeRun.objects.filter(state=State.RUNNING).exclude(
        held_until__gt=timezone.now()
    )
    pks = free.order_by("pk").values_list("pk", flat=True)
    return jobs.enqueue_missing((JOB, {"pk": pk}) for pk in pks)


def _insist_on_budget(run: JudgeRun, cents: int) -> None:
    left = left_cents(run.task, run.judge)
    if left is None:
        raise GenieError(
            f"Judges have no budget on {run.task}: set one first.", code="over-budget"
        )
    if cents > left:
        raise GenieError(
            f"{cents} cents are asked for, and {max(0, left)} are left of the budget "
            f"of judges on {run.task}.",
            code="over-budget",
        )


def _turn(run: JudgeRun, old: list[State], new: State, **fields: object) -> bool:
    rows = JudgeRun.objects.filter(pk=run.pk, state__in=old)
    return bool(rows.update(state=new, **fields))


def _word(said: bool) -> str:
    return "yes" if said else "no"
