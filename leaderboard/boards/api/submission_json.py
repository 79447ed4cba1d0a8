from typing import Any

from rest_framework.request import Request
from rest_framework.reverse import reverse

from leaderboard.api.links import html_url
from leaderboard.boards.selectors.attempts import Attempts, attempts_of
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.judged import judged_of
from leaderboard.boards.selectors.score_changes import score_changes, still_open
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.campaigns import campaigns_of, evaluation_of
from leaderboard.evaluation.selectors.worker_figures import paid_and_fee
from leaderboard.submissions.models import Submission, detail_names
from leaderboard.submissions.selectors import VisibleParts
from leaderboard.tasks.api import imported_json

# These could disclose another team's submission (as on its page).
_FOR_THE_TEAM = ("near-duplicate",)


def brief(
    submission: Submission, view: VisibleParts, request: Request
) -> dict[str, Any]:
    team = {"slug": submission.team.slug, "name": submission.team.name}
    return {
        "id": submission.pk,
        "url": reverse("api:submission-detail", args=[submission.pk], request=request),
        "html_url": html_url(request, "submission", submission.pk),
        "task": submission.task.slug,
        "system_name": submission.system_name,
        "team": team if view.identity else None,
        "visibility": submission.visibility,
        "anonymous_until": submission.anonymous_until,
        "simulated": submission.simulated,
        "imported": imported_json(submission.task),
        "state": submission.state,
        "n_warnings": len(_warnings(submission, view)),
        "created_at": submission.created_at,
        "published_at": submission.published_at,
    }


def full(
    submission: Submission, view: VisibleParts, request: Request
) -> dict[str, Any]:
    """Return all fields; the team's own matters only to the team and staff."""
    withdrawn = submission.state == Submission.State.WITHDRAWN and not view.inner
    scores = [] if withdrawn else _scores(submission, view)
    return {
        **brief(submission, view, request),
        "attempts": _attempts(submission, scores) if view.identity else None,
        "description": submission.description if view.identity else None,
        "links": submission.links if view.identity else None,
        **{
            # free text, which could identify an anonymous system's team
            name: getattr(submission, name) if view.identity else None
            for name in detail_names()
        },
        "baseline": submission.baseline,
        "file": _file(submission) if view.inner else None,
        "errors": submission.errors if view.inner else None,
        "warnings": _warnings(submission, view),
        "failure": _failure(submission) if view.inner else None,
        "cost_cents": submission.approved_cents if view.inner else None,
        **_paid(submission, view),
        "events": [
            {
                "state": event.state,
                "sentence": event.sentence if view.inner else None,
                "at": event.at,
            }
            for event in submission.events.order_by("pk")
        ],
        "metrics": {} if withdrawn else _metrics(submission),
        "scores": scores,
        "with_judges": judged_of(submission.task, [submission.pk]).get(
            submission.pk, {}
        )
        if scores
        else {},
        "provisional_because": [] if withdrawn else still_open(submission),
        "score_changes": [] if withdrawn else score_changes(submission),
    }


def _attempts(submission: Submission, scores: list[Score]) -> Attempts:
    main = main_criterion(submission.task)
    ranking = [score for score in scores if score.criterion == main]
    return attempts_of(submission, ranking[0] if ranking else None)


def _file(submission: Submission) -> dict[str, Any]:
    return {
        "name": submission.file_name,
        "sha256": submission.file_sha256,
        "bytes": submission.file_bytes,
        "format": submission.file_format,
    }


def _paid(submission: Submission, view: VisibleParts) -> dict[str, int | None]:
    """Return the cost of people's answers: to the team at once, to all with the scores."""
    if submission.task.imported:  # payments for imported ratings are unknown
        return {"paid_cents": None, "fee_cents": None}
    evaluation = evaluation_of(submission)
    published = submission.state == Submission.State.PUBLISHED
    if evaluation is None or not (published or (view.inner and view.money)):
        return {"paid_cents": None, "fee_cents": None}
    paid, fee = paid_and_fee(campaigns_of(evaluation))
    return {"paid_cents": paid, "fee_cents": fee}


def _failure(submission: Submission) -> dict[str, Any] | None:
    if not submission.failed:
        return None
    return {
        "step": submission.failed_step,
        "reason": submission.failure,
        "permanent": submission.failure_permanent,
    }


def _metrics(submission: Submission) -> dict[str, dict[str, Any]]:
    rows = submission.metric_results.order_by("metric", "pk").defer(
        "per_instance", "details"
    )
    return {
        row.metric: {
            "value": row.value,
            "signature": row.signature,
            "computed_at": row.computed_at,
        }
        for row in rows
    }


def _scores(submission: Submission, view: VisibleParts) -> list[Score]:
    """Return the current scores; before publication only to the team and staff."""
    if not (submission.published_at or view.inner):
        return []
    scores = submission.scores.filter(superseded_at=None).order_by("criterion")
    return list(scores.prefetch_related("evaluation__campaigns"))


def _warnings(submission: Submission, view: VisibleParts) -> list[dict[str, Any]]:
    warnings: list[dict[str, Any]] = submission.warnings
    if view.inner:
        return warnings
    return [w for w in warnings if not str(w.get("code", "")).startswith(_FOR_THE_TEAM)]
