"""Entries of scores and results in the public log, and who may read them."""

import json
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db.models import Q
from django.utils import timezone

from genie.history import log, shown
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
    Score,
)
from leaderboard.evaluation.result_columns import columns_of, joint_row
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.submissions.services import lifecycle

# Large integers that some readers of JSON round: seeds.
_SHORT = 15


def scores(rows: Iterable[Score]) -> None:
    said = [
        (score.pk, {"submission": score.submission_id} | _numbers(score))
        for score in rows
    ]
    log.append_all(log.Kind.SCORE, said)


def _numbers(score: Score) -> dict[str, Any]:
    numbers = {column.name: getattr(score, column.name) for column in columns_of("log")}
    # JSON has no infinity
    return {
        name: None if isinstance(one, float) and not math.isfinite(one) else one
        for name, one in numbers.items()
    }


def result(row: Comparison | JointEvaluation, **found: Any) -> None:
    exact = json.loads(
        json.dumps(found),
        parse_int=lambda digits: int(digits) if len(digits) <= _SHORT else digits,
    )
    data = {str(row._meta.model_name): row.pk} | exact
    log.append(log.Kind.RESULT, data, about=row.pk)


def joint_result(row: JointEvaluation, results: Mapping[str, Any]) -> None:
    """Log the systems' results without data on workers."""
    of = {
        criterion: {
            "systems": [
                {"submission": system["submission_id"], **joint_row(system, "log")}
                for system in found["systems"]
            ],
            **{name: found[name] for name in ("ratings_sha256", "signature")},
        }
        for criterion, found in results["criteria"].items()
    }
    result(row, criteria=of)


def register() -> None:
    """Make scores of published systems and public results visible in the log."""
    shown.register(log.Kind.SCORE, _public_scores)
    shown.register(log.Kind.RESULT, _public_results)
    shown.register(log.Kind.BAN)
    shown.register(log.Kind.RELEASE)


def _public_scores(pks: Collection[int]) -> set[int]:
    published = public("submission__") & Q(submission__published_at__isnull=False)
    return set(Score.objects.filter(published, pk__in=pks).values_list("pk", flat=True))


def _public_results(pks: Collection[int]) -> set[int]:
    # imported late: every command registers this, without needing it
    from leaderboard.evaluation.selectors.comparisons import comparisons_seen_by
    from leaderboard.evaluation.selectors.joint import joint_seen_by

    rows = HumanEvaluation.objects.filter(
        Q(pk__in=comparisons_seen_by(None).order_by().values("pk"))
        | Q(pk__in=joint_seen_by(None).order_by().values("pk")),
        pk__in=pks,
    )
    return set(rows.values_list("pk", flat=True))


State = Submission.State


def publish_submission(pk: int) -> bool:
    """Go from SCORED to PUBLISHED; only its team sees a private submission."""
    private = Submission.objects.filter(
        pk=pk, visibility=Submission.Visibility.PRIVATE
    ).exists()
    now = timezone.now()
    rows = Submission.objects.filter(pk=pk, own_state=State.MEASURED, published_at=None)
    if not rows.update(published_at=now):
        return False
    lifecycle.tell(
        pk,
        State.PUBLISHED,
        "The result is ready; the submission is private, so only the team can see it."
        if private
        else "The result is on the board.",
    )
    return True
