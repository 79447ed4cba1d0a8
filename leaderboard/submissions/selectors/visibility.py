"""Permissions outside the admin; every page and the API use these functions.

Code elsewhere must not decide on its own: views, API, exports and selectors call
`visible_parts` for one submission and `public()` or `inside()` for queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from genie.accounts.staff import open_to, staff_may
from leaderboard.submissions.models.submission import Submission, Team

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

State = Submission.State


class Staff(StrEnum):
    """Parts for staff only, and the permission for each.

    The same permissions open these rows in the admin; docs/operating.md lists them.
    """

    # submissions that are private or not published, their files, errors, costs and
    # scores, and the team behind an anonymous one
    SEE_SUBMISSIONS = "leaderboard.view_submission"
    # the cost of comparisons and joint evaluations, also before approval
    SEE_COMPARISONS = "leaderboard.view_comparison"
    SEE_JOINT_EVALUATIONS = "leaderboard.view_jointevaluation"
    # request a comparison or joint evaluation of other teams' systems
    ASK_COMPARISONS = "leaderboard.add_comparison"
    ASK_JOINT_EVALUATIONS = "leaderboard.add_jointevaluation"
    # the staff routes of the API
    SEE_CAMPAIGNS = "crowd.view_campaign"
    SEE_WORKERS = "crowd.view_worker"
    SEE_BANS = "quality.view_ban"
    SEE_JUDGES = "leaderboard.view_judgerun"
    # tasks as bundles, their hidden references, and loading a task from a bundle
    EXPORT_TASKS = "leaderboard.view_task"
    SEE_REFERENCES = "leaderboard.change_task"
    IMPORT_TASKS = "leaderboard.add_task"


# A submission is on its board from its first scores. Before, and if its file is invalid
# or it is declined, only its team and staff see it.
ON_BOARD: frozenset[str] = frozenset(
    {
        State.MEASURED,
        State.APPROVED,
        State.ANNOTATING,
        State.ANNOTATED,
        State.SCORED,
        State.PUBLISHED,
    }
)


@dataclass(frozen=True)
class VisibleParts:
    """The parts of one submission that a viewer sees.

    `inner` is for the team and staff: errors, failures, cost, and the internal history.
    `identity` is the team. `money` is the spending of its campaign.
    """

    page: bool
    identity: bool
    inner: bool
    team: bool
    money: bool


def visible_parts(
    submission: Submission, viewer: AbstractBaseUser | AnonymousUser | None
) -> VisibleParts:
    team = submission.team_id in team_ids(viewer)
    slug = submission.task.slug
    inner = team or staff_may(viewer, Staff.SEE_SUBMISSIONS, slug)
    return VisibleParts(
        page=inner or is_public(submission),
        identity=inner or not submission.anonymous_now,
        inner=inner,
        team=team,
        money=team or staff_may(viewer, Staff.SEE_CAMPAIGNS, slug),
    )


def is_public(submission: Submission) -> bool:
    """Return whether everyone sees the page: it is, or was, on the board."""
    if submission.visibility != Submission.Visibility.PUBLIC:
        return False
    # a published result keeps its page after a withdrawal, so that links from papers
    # still work
    withdrawn = submission.state == State.WITHDRAWN and bool(submission.published_at)
    return submission.state in ON_BOARD or withdrawn


def public(path: str = "") -> Q:
    """Return the filter for everything on a board; `path` leads to the submission."""
    return Q(
        **{
            f"{path}visibility": Submission.Visibility.PUBLIC,
            f"{path}state__in": ON_BOARD,
        }
    )


def inside(viewer: AbstractBaseUser | AnonymousUser | None, path: str = "") -> Q:
    """Return the filter for systems that the viewer sees from inside.

    Members see their teams' systems, and staff all. Staff with roles on some tasks see
    only the systems of these tasks.
    """
    on_tasks = open_to(viewer, [Staff.SEE_SUBMISSIONS], f"{path}task__slug")
    if on_tasks is None:
        return Q(**{f"{path}pk__isnull": False})  # an empty Q selects no row in an OR
    return Q(**{f"{path}team__in": team_ids(viewer)}) | on_tasks


def team_ids(viewer: AbstractBaseUser | AnonymousUser | None) -> frozenset[int]:
    if viewer is None or not viewer.is_authenticated:
        return frozenset()
    ids: Any = Team.members.through.objects.filter(user_id=viewer.pk)
    return frozenset(ids.values_list("team_id", flat=True))
