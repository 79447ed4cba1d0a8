from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from leaderboard.judges.models import Judge, JudgeLicence, JudgeRun
from leaderboard.judges.selectors.pages import human_of
from leaderboard.judges.selectors.told import (
    Progress,
    by_judge,
    cents,
    progress_of,
    sent,
)
from leaderboard.judges.selectors.validation import NOT_APPLICABLE, NOT_CHECKED
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff, public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser | None


@dataclass(frozen=True)
class ShownLicence:
    """The decisions on one question: how people are asked it, and each check's result."""

    criterion: str
    question: str
    rows: list[JudgeLicence]

    @property
    def last(self) -> JudgeLicence | None:
        return self.rows[0] if self.rows else None

    @property
    def state(self) -> str:
        return self.last.get_state_display() if self.last else "not decided yet"

    @property
    def checks(self) -> list[dict[str, str]]:
        """Return name, outcome (passed, failed, not checked, does not apply), words."""
        return [_check(**reason) for reason in self.last.reasons] if self.last else []

    @property
    def since(self) -> datetime | None:
        """Return when this state began; later rows of the same state only add reasons."""
        began = None
        for row in self.rows:
            if self.last is None or row.state != self.last.state:
                break
            began = row.at
        return began


@dataclass(frozen=True)
class ShownJudge:
    judge: Judge
    runs: list[JudgeRun]
    licences: list[ShownLicence]
    # of each run, the newest first
    asked: list[Progress]

    @property
    def spent(self) -> str:
        return cents(sum(one.spent_cents for one in self.asked))

    @property
    def sent(self) -> str:
        return sent(self.judge, self.runs)


def judges_of(task: Task, viewer: Viewer) -> list[ShownJudge]:
    """Return judges with finished runs by name; private runs only for staff."""
    done = JudgeRun.objects.filter(task=task, state=JudgeRun.State.DONE)
    judges = by_judge(done)
    runs = [run for own in judges.values() for run in own]
    if not staff_may(viewer, Staff.SEE_JUDGES, task.slug):
        runs = public_runs(runs)
    progress = progress_of(runs)
    decided = JudgeLicence.objects.filter(run__in=runs).order_by("-pk")
    return [
        ShownJudge(
            judge,
            shown,
            _licences(judge, task, shown, decided),
            [progress[run.pk] for run in reversed(shown)],
        )
        for judge, own in judges.items()
        if (shown := [run for run in own if run.pk in progress])
    ]


def public_runs(runs: Sequence[JudgeRun]) -> list[JudgeRun]:
    """Return runs without private outputs, whose results may be public."""
    sent = {run: set(run.plan["submissions"]) for run in runs if run.with_private}
    systems = Submission.objects.filter(public(), pk__in=set().union(*sent.values()))
    shown = set(systems.values_list("pk", flat=True))
    return [run for run in runs if sent.get(run, set()) <= shown]


def _licences(
    judge: Judge, task: Task, runs: list[JudgeRun], stored: Iterable[JudgeLicence]
) -> list[ShownLicence]:
    rows: dict[str, list[JudgeLicence]] = {
        criterion: [] for run in runs for criterion in run.plan["criteria"]
    }
    own = {run.pk for run in runs}
    for row in stored:
        if row.run_id in own:
            rows.setdefault(row.criterion, []).append(row)
    questions: Mapping[str, str] = {}
    with suppress(GenieError):  # people are asked in another way by now
        questions = human_of(judge, task).criteria
    return [
        ShownLicence(criterion, questions.get(criterion, ""), decided)
        for criterion, decided in rows.items()
    ]


def _check(name: str, words: str, *, holds: bool) -> dict[str, str]:
    outcome, _, why = words.partition(": ")
    if outcome in {NOT_CHECKED, NOT_APPLICABLE}:
        return {"name": name, "outcome": outcome, "words": why}
    return {"name": name, "outcome": "passed" if holds else "failed", "words": words}
