"""Licensed judges' scores of a board's systems, prepared to help people's ratings."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Q

from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.board_ratings import board_scores
from leaderboard.judges.models import JudgeCall, JudgeLicence, JudgeRun
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.stats.resampling import Floats
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task


@dataclass
class Said:
    licence: JudgeLicence
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
        task=task,
        visibility=Submission.Visibility.PRIVATE,
        state=Submission.State.PUBLISHED,
    )
    rows = Score.objects.filter(
        Q(pk__in=board_scores(task).order_by().values("pk"))
        | Q(submission__in=private, superseded_at=None),
        criterion__in=criteria,
        submission__simulated=False,
    )
    return list(rows.select_related("evaluation", "submission").order_by("pk"))


def runs_of(task: Task, licences: Sequence[JudgeLicence]) -> dict[int, list[JudgeRun]]:
    """Return each judge's finished runs, oldest first, without repeated ones."""
    found: dict[int, list[JudgeRun]] = defaultdict(list)
    judges = {licence.run.judge_id for licence in licences}
    runs = JudgeRun.objects.filter(
        judge__in=judges, task=task, state=JudgeRun.State.DONE, occasion=""
    )
    for run in runs.select_related("judge", "task").order_by("pk"):
        found[run.judge_id].append(run)
    return found


def said_by(licence: JudgeLicence, runs: Sequence[JudgeRun]) -> Said:
    said = Said(licence)
    for run in runs:
        if licence.criterion not in run.plan["criteria"]:
            continue
        for submission, row in scores_of(run, licence.criterion).items():
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
        [one.licence.run.judge_id for one in used], order, np.stack(columns, axis=1)
    )


def _column(scores: Mapping[int, float], order: Sequence[int]) -> Floats:
    known = [scores[position] for position in order if position in scores]
    usual = float(np.mean(known)) if known else 0.0
    return np.array([scores.get(position, usual) for position in order], np.float64)
