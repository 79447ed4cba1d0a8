from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from genie.accounts.staff import staff_may
from leaderboard.judges.models import Judge, JudgeLicence, JudgeRun
from leaderboard.judges.selectors.told import by_judge, cents, progress, sent
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff, public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser | None


@dataclass(frozen=True)
class ShownLicence:
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

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [{"run": run, **progress(run)} for run in reversed(self.runs)]

    @property
    def spent(self) -> str:
        return cents(sum(progress(run)["spent_cents"] for run in self.runs))

    @property
    def sent(self) -> str:
        return sent(self.judge, self.runs)


def judges_of(task: Task, viewer: Viewer) -> list[ShownJudge]:
    """Return judges with finished runs by name; private runs only for staff."""
    done = JudgeRun.objects.filter(task=task, state=JudgeRun.State.DONE)
    sees_all = staff_may(viewer, Staff.SEE_JUDGES, task.slug)
    shown = [
        (judge, [run for run in runs if sees_all or is_public(run)])
        for judge, runs in by_judge(done).items()
    ]
    return [ShownJudge(judge, own, _licences(own)) for judge, own in shown if own]


def is_public(run: JudgeRun) -> bool:
    """Check that no output of a run is private, so that its results may be public."""
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
