"""Money and answers: reserved before a request is sent, stored before it is counted."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from leaderboard.judges.endpoint import Reply
from leaderboard.judges.models import (
    MICROCENTS,
    JudgeAnswer,
    JudgeCost,
    JudgeRun,
)
from leaderboard.judges.selectors.requests import Request, price

State = JudgeCost.State


def hold(run: JudgeRun, request: Request, *, holder: str) -> JudgeCost | None:
    """Reserve the highest cost of a request.

    Return None if that would exceed the approved amount, or if the run was stopped or
    belongs to another process: then the request must not be sent.
    """
    # as read when the job began: an approved amount never decreases
    room = run.approved_cents * MICROCENTS - request.most
    mine = JudgeRun.objects.filter(
        pk=run.pk, holder=holder, state=JudgeRun.State.RUNNING, microcents__lte=room
    )
    with transaction.atomic():
        if not mine.update(microcents=F("microcents") + request.most):
            return None
        return JudgeCost.objects.create(
            run=run,
            request_sha256=request.sha256,
            n_bytes=request.n_bytes,
            microcents=request.most,
        )


def keep(cost: JudgeCost, reply: Reply) -> JudgeAnswer:
    """Store an answer under its request's hash and settle its cost in one transaction."""
    run = cost.run
    n_in, n_out = reply.input_tokens, reply.output_tokens
    with transaction.atomic():
        answer, _ = JudgeAnswer.objects.get_or_create(
            request_sha256=cost.request_sha256,
            defaults={
                "judge": run.judge,
                "text": reply.text,
                "refusal": reply.refusal,
                "model": reply.model,
                "fingerprint": reply.fingerprint,
                "input_tokens": n_in or 0,
                "output_tokens": n_out or 0,
                "seconds": round(reply.seconds, 3),
            },
        )
        # an endpoint that reports no count is assumed to charge the most
        known = n_in is not None and n_out is not None
        paid = price(run.judge, n_in or 0, n_out or 0) if known else cost.microcents
        _settle(cost, State.PAID, paid)
    return answer


def let_go(cost: JudgeCost) -> None:
    """Release the amount reserved for a rejected request."""
    _settle(cost, State.FREE, 0)


def lose(cost: JudgeCost) -> None:
    """Charge a request with unknown outcome the highest cost."""
    _settle(cost, State.LOST, cost.microcents)


def lose_all(run: JudgeRun) -> int:
    """Charge the open requests of a dead process; return how many."""
    held = JudgeCost.objects.filter(run=run, state=State.HELD)
    return held.update(state=State.LOST, settled_at=timezone.now())


def _settle(cost: JudgeCost, state: State, microcents: int) -> None:
    # LOST, too: the answer may reach a process that was assumed dead
    unknown = [State.HELD, State.LOST]
    with transaction.atomic():
        rows = JudgeCost.objects.filter(pk=cost.pk, state__in=unknown)
        if rows.update(state=state, microcents=microcents, settled_at=timezone.now()):
            JudgeRun.objects.filter(pk=cost.run_id).update(
                microcents=F("microcents") + microcents - cost.microcents
            )
