from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from crowd.hits.selectors import campaign_progress
from crowd.scales.base import PREFERRED, all_scales
from genie.accounts.staff import open_to, staff_may
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    JointEvaluation,
    Score,
)
from leaderboard.evaluation.result_columns import joint_row
from leaderboard.evaluation.selectors.system_ratings import campaigns_of
from leaderboard.evaluation.selectors.unsettled import LAST_CHECK, unsettled
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff, inside, public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser | None

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
    def compared_systems(self) -> list[Row]:
        """Return systems with a column in the table: none if there are many."""
        return [] if len(self.rows) > MANY else self.rows


def agreed_to(viewer: Viewer, right: Staff) -> Q:
    """Return the condition that a question is approved, or the viewer its author or staff."""
    agreed = ~Q(state__in=_UNASKED)
    if viewer is not None and viewer.is_authenticated:
        agreed |= Q(requested_by=viewer.pk)
    on_tasks = open_to(viewer, [right], "task__slug")
    return Q() if on_tasks is None else agreed | on_tasks


def joint_seen_by(
    viewer: Viewer, task: Task | None = None
) -> QuerySet[JointEvaluation]:
    """Return joint evaluations of which the viewer may see all systems."""
    rows = JointEvaluation.objects.select_related("task")
    if task is not None:
        rows = rows.filter(task=task)
    unseen = EvaluatedSystem.objects.filter(evaluation=OuterRef("pk")).exclude(
        public("submission__") | inside(viewer, "submission__")
    )
    agreed = agreed_to(viewer, Staff.SEE_JOINT_EVALUATIONS)
    return rows.filter(agreed, ~Exists(unseen)).order_by("-pk")


def joint_concerns(viewer: Viewer, joint: JointEvaluation) -> bool:
    """Check whether costs may be shown: to staff and the author."""
    if viewer is None or not viewer.is_authenticated:
        return False
    may_see_all = staff_may(viewer, Staff.SEE_JOINT_EVALUATIONS, joint.task.slug)
    return may_see_all or joint.requested_by_id == viewer.pk


def joint_progress(joint: JointEvaluation) -> dict[str, int]:
    """Count the HITs of all its campaigns and their cost so far, in cents."""
    parts = [campaign_progress(campaign) for campaign in campaigns_of(joint)]
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
    after: dict[tuple[str, int], Score] = {}
    changes: list[JointChange] = []
    rows = Score._base_manager.filter(evaluation=joint.pk)
    for old in rows.select_related("submission").order_by("-pk"):
        new = after.get((old.criterion, old.submission_id))
        after[old.criterion, old.submission_id] = old
        if old.superseded_at and (
            new is None or f"{old.mean:.1f}" != f"{new.mean:.1f}"
        ):
            changes.insert(
                0,
                JointChange(
                    old.superseded_at,
                    old.criterion,
                    old.submission,
                    new.reason if new else "no rating counts any more",
                    old.mean,
                    new.mean if new else None,
                ),
            )
    return sorted(changes, key=lambda change: change.at)


def joint_still_open(joint: JointEvaluation) -> list[str]:
    if not joint.is_provisional:
        return []
    return unsettled(joint) or [LAST_CHECK]


# by criterion; the systems are in the order of the joint evaluation
def estimates_of(joint: JointEvaluation) -> dict[str, list[Score]]:
    found = defaultdict(list)
    rows = Score._base_manager.filter(evaluation=joint.pk, superseded_at=None)
    for row in rows.select_related("submission__team").order_by("pk"):
        found[row.criterion].append(row)
    return found


def criterion_results(
    joint: JointEvaluation, questions: dict[str, str]
) -> list[CriterionResult]:
    estimates, stored = estimates_of(joint), joint.results.get("criteria", {})
    return [
        CriterionResult(
            criterion=name,
            question=questions.get(name, name),
            rows=_rows(stored[name], estimates[name], _ends(joint, name, stored[name])),
            about=stored[name],
        )
        for name in joint.criteria
        if name in stored
    ]


def uneven_pairs(task: Task) -> JointEvaluation | None:
    """Return a joint evaluation of modeled imported preferences with uneven pairs.

    The share of comparisons won then depends on whom a system met. Uneven: some pairs
    met more than twice as often as others.
    """
    if not task.imported or task.human.scale != PREFERRED:
        return None
    rows = JointEvaluation.objects.filter(
        task=task, design="two-choice", state=State.SCORED
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
    scale = all_scales().get(result.get("scale", ""))
    if scale is None or result.get("normalised"):
        return -math.inf, math.inf
    return all_designs()[joint.design].unit(criterion, scale, asked=True).bounds


def _rows(
    result: dict[str, Any], estimates: list[Score], ends: tuple[float, float]
) -> list[Row]:
    order = sorted(range(len(estimates)), key=lambda i: -estimates[i].mean)
    return [
        Row(
            # no score is beyond the ends of its scale
            **{
                key: min(max(value, ends[0]), ends[1]) if key in _DRAWN else value
                for key, value in joint_row(vars(estimates[i]), "board").items()
            },
            submission=estimates[i].submission,
            games=[result["win_tie_loss"][i][other] for other in order],
        )
        for i in order
    ]
