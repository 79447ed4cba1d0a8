from dataclasses import dataclass
from datetime import datetime

from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.campaigns import evaluation_of
from leaderboard.evaluation.selectors.unsettled import LAST_CHECK, unsettled
from leaderboard.evaluation.services.refit import AGAIN
from leaderboard.submissions.models import Submission


@dataclass(frozen=True)
class ScoreChange:
    criterion: str
    at: datetime
    reason: str
    before: float
    # None: it has no counting rating any more
    after: float | None
    was_provisional: bool

    @property
    def difference(self) -> float | None:
        return None if self.after is None else self.after - self.before


def score_changes(submission: Submission) -> list[ScoreChange]:
    if submission.published_at is None:
        return []
    before: dict[str, Score] = {}
    changes = []
    rows = Score.objects.filter(evaluation__submission=submission).order_by("pk")
    for score in rows.defer("histogram"):
        old = before.get(score.criterion)
        if old is not None and not _unseen(old, score):
            changes.append(_change(old, score))
        before[score.criterion] = score
    # superseded without a successor
    changes += [
        _change(old, None) for old in before.values() if old.superseded_at is not None
    ]
    return sorted(changes, key=lambda change: change.at)


def _unseen(old: Score, new: Score) -> bool:
    return new.reason == AGAIN and f"{old.mean:.1f}" == f"{new.mean:.1f}"


def still_open(submission: Submission) -> list[str]:
    evaluation = evaluation_of(submission)
    if (
        evaluation is None
        or submission.published_at is None
        or not evaluation.scores.filter(superseded_at=None, provisional=True).exists()
    ):
        return []
    return unsettled(evaluation) or [LAST_CHECK]


def _change(old: Score, new: Score | None) -> ScoreChange:
    return ScoreChange(
        criterion=old.criterion,
        at=(new.created_at if new else old.superseded_at) or old.created_at,
        reason=new.reason if new else "no rating counts any more",
        before=old.mean,
        after=new.mean if new else None,
        was_provisional=old.provisional,
    )
