from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from crowd.hits.selectors import campaign_progress
from crowd.scales.base import PREFERRED, all_scales
from genie.accounts.staff import open_to, staff_may
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import EvaluatedSystem
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.result_columns import joint_row
from leaderboard.evaluation.selectors.system_ratings import campaigns_of
from leaderboard.evaluation.selectors.unsettled import LAST_CHECK, unsettled
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff, inside, public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from leaderboard.evaluation.selectors.comparisons import Viewer

State = JointEvaluation.State
_UNASKED = [State.REQUESTED, State.DECLINED, State.WITHDRAWN]
# With more systems, tables have no columns of wins against each other, and headings no
# names.
MANY = 12
_DRAWN = ("mean", "low", "high", "low_50", "high_50")


# a system's results; its other attributes are the columns of `joint_results`
class Row(SimpleNamespace):
    submission: Submission
    # (wins, ties, losses) against each system in the criterion's order; None: itself
    games: list[tuple[int, int, int] | None]


@dataclass(frozen=True)
class CriterionResult:
    criterion: str
    question: str
    rows: list[Row]
    # as stored with the results: counts, agreement, method, signature
    about: dict[str, Any]

    @property
    def compared(self) -> list[Row]:
        """Return systems with a column in the table: none if there are many."""
        return [] if len(self.rows) > MANY else self.rows


def joint_seen_by(
    viewer: Viewer, task: Task | None = None
) -> QuerySet[JointEvaluation]:
    """Return joint evaluations of which the viewer may see all systems."""
    rows = JointEvaluation.objects.select_related("evaluation__task")
    if task is not None:
        rows = rows.filter(evaluation__task=task)
    unseen = EvaluatedSystem.objects.exclude(
        public("submission__") | inside(viewer, "submission__")
    )
    agreed = ~Q(evaluation__state__in=_UNASKED)
    if viewer is not None and viewer.is_authenticated:
        agreed |= Q(evaluation__requested_by=viewer.pk)
    on_tasks = open_to(viewer, [Staff.SEE_JOINT_EVALUATIONS], "evaluation__task__slug")
    agreed = Q() if on_tasks is None else agreed | on_tasks
    return (
        rows.filter(agreed)
        .exclude(evaluation__in=unseen.values("evaluation"))
        .order_by("-pk")
    )


def joint_concerns(viewer: Viewer, joint: JointEvaluation) -> bool:
    """Check whether costs may be shown: to staff and the author."""
    if viewer is None or not viewer.is_authenticated:
        return False
    may_see_all = staff_may(viewer, Staff.SEE_JOINT_EVALUATIONS, joint.task.slug)
    return may_see_all or joint.requested_by_id == viewer.pk


def joint_progress(joint: JointEvaluation) -> dict[str, int]:
    """Count the HITs of all its campaigns and their cost so far, in cents."""
    parts = [campaign_progress(campaign) for campaign in campaigns_of(joint.evaluation)]
    return {
        "n_done": sum(part.n_done for part in parts),
        "n_hits": sum(part.n_hits for part in parts),
        "spent_cents": sum(part.spent_cents for part in parts),
    }


@dataclass(frozen=True)
class JointChange:
    at: datetime
    criterion: str
    submission: Submission
    reason: str
    before: float | None
    after: float | None


def joint_changes_of(joint: JointEvaluation) -> list[JointChange]:
    rows = joint.evaluation.systems.select_related("submission")
    systems = {row.submission_id: row.submission for row in rows}
    return [
        JointChange(
            datetime.fromisoformat(change["at"]),
            change["criterion"],
            systems[change["submission"]],
            change["reason"],
            change["before"],
            change["after"],
        )
        for change in joint.changes
    ]


def joint_still_open(joint: JointEvaluation) -> list[str]:
    evaluation = joint.evaluation
    if not joint.is_provisional:
        return []
    return unsettled(evaluation) or [LAST_CHECK]


def criterion_results(
    joint: JointEvaluation, questions: dict[str, str]
) -> list[CriterionResult]:
    systems = {
        row.submission_id: row.submission
        for row in joint.evaluation.systems.select_related("submission__team")
    }
    stored = joint.results.get("criteria", {})
    ordered = [name for name in joint.criteria if name in stored]
    return [
        CriterionResult(
            criterion=name,
            question=questions.get(name, name),
            rows=_rows(stored[name], systems, _ends(joint, name, stored[name])),
            about=stored[name],
        )
        for name in ordered
    ]


def uneven_pairs(task: Task) -> JointEvaluation | None:
    """Return a joint evaluation of modeled imported preferences with uneven pairs.

    The share of comparisons won then depends on whom a system met. Uneven: some pairs
    met more than twice as often as others.
    """
    if not task.imported or task.human.scale != PREFERRED:
        return None
    rows = JointEvaluation.objects.filter(
        evaluation__task=task,
        evaluation__design="two-choice",
        evaluation__state=State.SCORED,
    )
    for row in rows.order_by("pk"):
        for about in row.results.get("criteria", {}).values():
            met = [
                sum(games)
                for i, line in enumerate(about.get("win_tie_loss", []))
                for games in line[:i]
            ]
            if met and max(met) > 2 * min(met):
                return row
    return None


def _ends(
    joint: JointEvaluation, criterion: str, result: dict[str, Any]
) -> tuple[float, float]:
    """Return the lowest and highest score of the scale; magnitudes are unbounded."""
    scale = all_scales().get(result.get("scale", ""))
    if scale is None or result.get("normalised"):
        return -math.inf, math.inf
    design = all_designs()[joint.evaluation.design]
    return design.unit(criterion, scale, asked=True).bounds


def _rows(
    result: dict[str, Any],
    systems: dict[int, Submission],
    ends: tuple[float, float],
) -> list[Row]:
    if not result["systems"]:
        return []
    order = sorted(
        range(len(result["systems"])), key=lambda i: -result["systems"][i]["mean"]
    )
    return [_row(result, systems, index, order, ends) for index in order]


def _row(
    result: dict[str, Any],
    systems: dict[int, Submission],
    index: int,
    order: list[int],
    ends: tuple[float, float],
) -> Row:
    row = joint_row(result, index, "board")
    # no score is beyond the ends of its scale
    row |= {key: min(max(row[key], ends[0]), ends[1]) for key in _DRAWN}
    return Row(
        **row,
        submission=systems[result["systems"][index]["submission"]],
        games=[result["win_tie_loss"][index][other] for other in order],
    )
