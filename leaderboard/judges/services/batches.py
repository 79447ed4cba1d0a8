"""Many requests in one file: handed in at once, answered within a day, at what endpoints ask for that."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.judges.endpoint import Asker
from leaderboard.judges.models import JudgeCost, JudgeRun
from leaderboard.judges.selectors.requests import Request
from leaderboard.judges.services import ledger

# Requests of one file.
AT_ONCE = 1_000


def send(run: JudgeRun, ask: Asker, requests: Mapping[str, Request]) -> None:
    """Hand in requests whose money is held already."""
    run.batch = ask.send_batch({key: one.body for key, one in requests.items()})
    JudgeRun.objects.filter(pk=run.pk).update(batch=run.batch)


def find_again(run: JudgeRun, ask: Asker) -> bool:
    """Take up a batch that a process handed in and died before it stored its name."""
    held = JudgeCost.objects.filter(run=run, state=JudgeCost.State.HELD)
    keys = list(held.values_list("request_sha256", flat=True))
    if keys and (name := ask.handed_in(keys)):
        run.batch = name
        JudgeRun.objects.filter(pk=run.pk).update(batch=name)
    return bool(run.batch)


def take_in(run: JudgeRun, ask: Asker) -> bool:
    """Take in what a batch answered; False while it is under way."""
    found = ask.batch(run.batch)
    if found is None:
        return False
    for cost in JudgeCost.objects.filter(
        run=run, state=JudgeCost.State.HELD
    ).select_related("run__judge"):
        if (reply := found.replies.get(cost.request_sha256)) is not None:
            ledger.keep(cost, reply)
        elif found.refused or cost.request_sha256 in found.errors:
            ledger.let_go(cost)
        else:
            ledger.lose(cost)
    run.batch = ""
    JudgeRun.objects.filter(pk=run.pk).update(batch="")
    return True
