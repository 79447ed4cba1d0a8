"""Drafts before judges: one sheet at a time of each, and all of its runs decided together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from genie.lib.admin.log import note
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.judges.definition import PAIRWISE, POINTWISE, SCRIPTED
from leaderboard.judges.models import Judge, JudgeCall, JudgeRun, JudgeSheet
from leaderboard.judges.scripted import FIRST, SCRIPTS
from leaderboard.judges.selectors.sheets import NOBODYS
from leaderboard.judges.services import ask, decide, define
from leaderboard.judges.services.forget import answers_to
from leaderboard.judges.services.forget import forget as forget_answers

State = JudgeRun.State


def offered(*, pairs: bool) -> list[Judge]:
    """Give all judges that answer so: the scripts of the site, then what staff defined.

    Scripts that nobody has used yet are not stored.
    """
    mode = PAIRWISE if pairs else POINTWISE
    scripts = [
        define.drafted(
            f"{name}-pairs" if pairs else name,
            "1",
            {"endpoint": SCRIPTED, "model": name, "mode": mode},
        )
        for name in SCRIPTS
        if pairs or name != FIRST  # alone, every output stands first
    ]
    stored = Judge.objects.filter(retired_at=None).order_by("name", "-pk")
    models = [
        one for one in stored if not one.scripted and one.definition["mode"] == mode
    ]
    return [*scripts, *models]


@transaction.atomic
def begin(
    key: str,
    title: str,
    content: Mapping[str, Any],
    judges: Sequence[Judge],
    wish: ask.Wish,
    *,
    by: Account,
) -> JudgeSheet:
    """Price what judges are asked about a draft; what was there of it before ends.

    Raises
    ------
    GenieError
        ``pilot-runs`` while judges are at work on it, and as `ask.ask` does.
    """
    if runs_of(key).filter(state=State.RUNNING).exists():
        raise GenieError(
            "Judges are at work on this draft; stop them first.", code="pilot-runs"
        )
    end(key, by=by, reason="Priced anew.")
    sheet = JudgeSheet.objects.create(key=key, title=title[:200], content=dict(content))
    for judge in judges:
        # one that is stored, or a script
        made = judge if judge.pk else _stored(judge, by)
        ask.ask_sheet(made, sheet, wish, by=by)
    return sheet


def _stored(judge: Judge, by: Account) -> Judge:
    return define.make(judge.name, judge.version, judge.definition, by=by, per_minute=0)


@transaction.atomic
def approve(
    sheet: JudgeSheet,
    *,
    by: Account,
    cents: int,
    references: bool = False,
    private: bool = False,
    reason: str = "",
) -> int:
    """Let all runs that wait ask for what was shown; return how many.

    Raises
    ------
    GenieError
        ``not-approvable`` where the price is another one than was shown, and as
        `decide.approve` does.
    """
    n, waiting = 0, list(sheet.runs.filter(state=State.ASKED).select_related("judge"))
    if sum(run.most_cents for run in waiting) != cents:
        raise GenieError(
            "The price is another one now; look at it first.", code="not-approvable"
        )
    for run in waiting:
        changed = decide.approve(
            run,
            by=by,
            reason=reason,
            # said for all; a run that sends none has none to approve
            references=references and run.with_references,
            private=private and run.with_private,
        )
        if changed:
            note(by, run, "Approved with the draft.", reason)
        n += changed
    return n


def stop(sheet: JudgeSheet, *, by: Account) -> int:
    """Stop what runs; answers that are on their way are still taken in."""
    return _each(sheet.runs.filter(state=State.RUNNING), decide.stop, "Stopped.", by)


def resume(sheet: JudgeSheet, *, by: Account) -> int:
    """Go on with what was stopped."""
    return _each(sheet.runs.filter(state=State.STOPPED), decide.resume, "Resumed.", by)


def _each(runs: Iterable[JudgeRun], act: Any, said: str, by: Account) -> int:
    done = [run for run in runs if act(run)]
    for run in done:
        note(by, run, said)
    return len(done)


@transaction.atomic
def end(key: str, *, by: Account | None, reason: str) -> None:
    """End all runs of a draft and forget its texts; the ledger and the numbers stay."""
    for run in runs_of(key).exclude(state__in=[State.DONE, State.DECLINED]):
        decide.stop(run)
        decide.decline(run, by=by, reason=reason)
    # first, so that an answer that comes now waits, and then is kept without its words
    JudgeSheet.objects.filter(key=key).exclude(content={}).update(content={})
    # programs quote what they were shown
    JudgeCall.objects.filter(run__sheet__key=key).update(reasons={}, problem="")


@transaction.atomic
def forget(key: str, *, reason: str) -> None:
    """Do so of a draft that is deleted, and leave no answer about it, nor its name."""
    end(key, by=None, reason=reason)
    calls = JudgeCall.objects.filter(run__sheet__key=key)
    found = answers_to(calls)
    calls.update(answer=None)
    forget_answers(found)
    JudgeSheet.objects.filter(key=key).update(key=NOBODYS, title="deleted")


def forget_left(prefix: str, before: datetime) -> None:
    """End what a process left that began before a moment and did not come to its end."""
    left = JudgeSheet.objects.filter(key__startswith=prefix, created_at__lt=before)
    for key in set(left.exclude(content={}).values_list("key", flat=True)):
        end(key, by=None, reason="Nobody waits for it any more.")


def runs_of(key: str) -> Any:
    """Select all runs about a draft."""
    return JudgeRun.objects.filter(sheet__key=key)
