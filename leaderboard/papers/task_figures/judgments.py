"""A task's judgments, whether they were brought in or made here."""

from __future__ import annotations

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.imports.selectors.judgments_of import judgments_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task


def judgments_for(task: Task) -> Judgments:
    """Give what was imported, as its files said it, or else the ratings that count here."""
    return judgments_of(task) if task.imports.exists() else _ours(task)


def _ours(task: Task) -> Judgments:
    rows = Submission.objects.filter(
        public(), task=task, state=Submission.State.PUBLISHED
    )
    names = dict(rows.values_list("pk", "system_name"))
    evaluations = HumanEvaluation.objects.filter(submission__in=names).order_by("pk")
    ratings = system_ratings_of(list(evaluations.values_list("pk", flat=True)))
    ratings = ratings[ratings["submission"].isin(list(names))]
    if ratings.empty:
        return Judgments("own", frame({}))
    return Judgments(
        "own",
        frame(
            {
                "worker": ratings["worker"].astype(str).to_numpy(),
                "instance": ratings["instance"].astype(str).to_numpy(),
                "system": ratings["submission"].map(names).to_numpy(),
                "criterion": ratings["criterion"].to_numpy(),
                "value": ratings["value"].to_numpy(),
            }
        ),
    )
