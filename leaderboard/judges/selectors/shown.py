from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Q

from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.board_ratings import board_scores
from leaderboard.judges.models import Judge, JudgeCall, JudgeRun
from leaderboard.judges.selectors.pages import human_of
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.judges.selectors.told import (
    Progress,
    by_judge,
    cents,
    progress_of,
    texts_sent_by,
)
from leaderboard.judges.selectors.validation import NOT_APPLICABLE, NOT_CHECKED
from leaderboard.stats.intervals import Floats
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff, is_published, public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser | None


@dataclass(frozen=True)
class ShownLicense:
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
    licenses: list[ShownLicense]
    # of each run, the newest first
    asked: list[Progress]

    @property
    def spent(self) -> str:
        return cents(sum(one.spent_cents for one in self.asked))

    @property
    def sent(self) -> str:
        return texts_sent_by(self.judge, self.runs)


def judges_of(task: Task, viewer: Viewer) -> list[ShownJudge]:
    """Return judges with finished runs by name; private runs only for staff."""
    judges = by_judge(JudgeRun.objects.filter(task=task, state=JudgeRun.State.DONE))
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
) -> list[ShownLicense]:
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
        ShownLicense(criterion, questions.get(criterion, ""), decided)
        for criterion, decided in rows.items()
    ]


def _check(name: str, words: str, *, holds: bool) -> dict[str, str]:
    outcome, _, why = words.partition(": ")
    if outcome in {NOT_CHECKED, NOT_APPLICABLE}:
        return {"name": name, "outcome": outcome, "words": why}
    return {"name": name, "outcome": "passed" if holds else "failed", "words": words}


# Licensed judges' scores of a board's systems, prepared to help people's ratings.
@dataclass
class Said:
    license: JudgeLicence
    scores: dict[int, dict[int, float]] = field(default_factory=dict)
    asked: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


@dataclass(frozen=True)
class Help:
    """Judges' scores of one system: positions, and a column for each judge."""

    judges: list[int]
    positions: list[int]
    scores: Floats


def helped_scores(task: Task, criteria: Collection[str]) -> list[Score]:
    """Return published scores of people that judges may help, also private ones."""
    private = Submission.objects.filter(
        is_published(),
        task=task,
        visibility=Submission.Visibility.PRIVATE,
    )
    rows = Score.objects.filter(
        Q(pk__in=board_scores(task).order_by().values("pk"))
        | Q(submission__in=private, superseded_at=None),
        criterion__in=criteria,
        submission__simulated=False,
    )
    return list(rows.select_related("evaluation", "submission").order_by("pk"))


def runs_of(task: Task, licenses: Sequence[JudgeLicence]) -> dict[int, list[JudgeRun]]:
    """Return each judge's finished runs, oldest first, without repeated ones."""
    found: dict[int, list[JudgeRun]] = defaultdict(list)
    judges = {license.run.judge_id for license in licenses}
    runs = JudgeRun.objects.filter(
        judge__in=judges, task=task, state=JudgeRun.State.DONE, occasion=""
    )
    for run in runs.select_related("judge", "task").order_by("pk"):
        found[run.judge_id].append(run)
    return found


def said_by(license: JudgeLicence, runs: Sequence[JudgeRun]) -> Said:
    said = Said(license)
    for run in runs:
        if license.criterion not in run.plan["criteria"]:
            continue
        for submission, row in scores_of(run, license.criterion).items():
            said.scores.setdefault(submission, {}).update(row)
        calls = JudgeCall.objects.filter(run=run, probe="").order_by()
        for which in ("submission", "other"):
            asked = calls.filter(**{f"{which}__isnull": False})
            for submission, position in asked.values_list(
                which, "instance__position"
            ).distinct():
                said.asked[submission].add(position)
    return said


def help_for(submission: int, rated: set[int], judges: Sequence[Said]) -> Help | None:
    """Return judges' scores of a system; None if they scored no more than people did.

    All asked outputs count, because they were chosen before the judge answered: missing
    answers are replaced by the mean of the others, so that the judge's behavior
    excludes none.
    """
    willing = [
        one
        for one in judges
        if rated <= one.asked.get(submission, set()) and one.scores.get(submission)
    ]
    if not willing:
        return None
    positions = max((one.asked[submission] for one in willing), key=len)
    if len(positions) <= len(rated):
        return None
    used = [one for one in willing if positions <= one.asked[submission]]
    order = sorted(positions)
    columns = [_column(one.scores[submission], order) for one in used]
    return Help(
        [one.license.run.judge_id for one in used], order, np.stack(columns, axis=1)
    )


def _column(scores: Mapping[int, float], order: Sequence[int]) -> Floats:
    known = [scores[position] for position in order if position in scores]
    usual = float(np.mean(known)) if known else 0.0
    return np.array([scores.get(position, usual) for position in order], np.float64)
