"""A task's ratings, imported or made here."""

from dataclasses import replace

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.imports.selectors.judgments_of import judgments_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task
from quality.detection.models import Ban


def judgments_for(task: Task) -> Judgments:
    """Return a task's ratings that count: the imported ones, else those made here.

    As on the board, withdrawn systems and banned workers are left out, also of imports.
    """
    return _left(task) if task.imports.exists() else _ours(task)


def _left(task: Task) -> Judgments:
    judgments = judgments_of(task)
    shown = Submission.objects.filter(public(), task=task).values("pk")
    hidden = Submission.objects.filter(task=task).exclude(pk__in=shown)
    called = {
        kept: found
        for row in task.imports.all()
        for kept, found in row.said.get("systems", {}).items()
    }
    names = hidden.values_list("system_name", flat=True)
    gone = {name for kept in names for name in (kept, called.get(kept, kept))}
    bans = Ban.objects.filter(pool=task.slug, lifted_at=None)
    banned = {*bans.values_list("worker__pseudonym", flat=True)}
    rows = judgments.rows
    out = rows["system"].isin(gone) | rows["other"].isin(gone)
    kept = ~(out | rows["worker"].isin(banned))
    extra = None if judgments.extra is None else judgments.extra[kept]
    return replace(judgments, rows=rows[kept], extra=extra)


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
