"""The judges of a task as everybody may see them: programs, what they may do, and why."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from genie.accounts.staff import staff_may
from leaderboard.judges.models import Judge, JudgeLicence, JudgeRun
from leaderboard.judges.selectors.told import address_told, cents, progress
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import Staff, public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser | None


@dataclass(frozen=True)
class ShownLicence:
    """A judge on one criterion: the row that counts, and those before it."""

    criterion: str
    rows: list[JudgeLicence]

    @property
    def last(self) -> JudgeLicence | None:
        return self.rows[0] if self.rows else None

    @property
    def state(self) -> str:
        return self.last.get_state_display() if self.last else "not decided yet"

    @property
    def since(self) -> datetime | None:
        """Give when this state began: rows after the first say other things anew."""
        began = None
        for row in self.rows:
            if self.last is None or row.state != self.last.state:
                break
            began = row.at
        return began


@dataclass(frozen=True)
class ShownJudge:
    """One judge of a task: its finished runs that the viewer may see, oldest first."""

    judge: Judge
    runs: list[JudgeRun]
    licences: list[ShownLicence]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Count each run's questions, newest first."""
        return [{"run": run, **progress(run)} for run in reversed(self.runs)]

    @property
    def spent(self) -> str:
        """Say what its runs cost, up to the next cent."""
        return cents(sum(progress(run)["spent_cents"] for run in self.runs))

    @property
    def sent(self) -> str:
        """Say which texts went where."""
        if self.judge.scripted:
            return "nothing: it is a script of this site"
        texts = [*self.runs[0].task.field_labels.values(), "outputs"]
        if any(run.with_references for run in self.runs):
            texts.append("hidden references")
        host = address_told(self.judge) or "an address that is not named here"
        return f"{', '.join(texts)}, to {host}; not who made the outputs"


def judges_of(task: Task, viewer: Viewer) -> list[ShownJudge]:
    """List the judges of a task with finished runs, by name.

    What rests on outputs that are private is for staff who see runs of judges.
    """
    done = JudgeRun.objects.filter(task=task, state=JudgeRun.State.DONE)
    runs: dict[Judge, list[JudgeRun]] = defaultdict(list)
    sees_all = staff_may(viewer, Staff.SEE_JUDGES, task.slug)
    for run in done.select_related("judge", "task").order_by("judge__name", "pk"):
        if sees_all or _is_public(run):
            runs[run.judge].append(run)
    return [ShownJudge(judge, own, _licences(own)) for judge, own in runs.items()]


def _is_public(run: JudgeRun) -> bool:
    if not run.with_private:
        return True
    systems = set(run.plan["submissions"])
    return Submission.objects.filter(public(), pk__in=systems).count() == len(systems)


def _licences(runs: list[JudgeRun]) -> list[ShownLicence]:
    rows: dict[str, list[JudgeLicence]] = {
        criterion: [] for run in runs for criterion in run.plan["criteria"]
    }
    stored = JudgeLicence.objects.filter(run__in=runs).order_by("-pk")
    for row in stored:
        rows.setdefault(row.criterion, []).append(row)
    return [ShownLicence(criterion, own) for criterion, own in rows.items()]
