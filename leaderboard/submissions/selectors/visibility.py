"""Who may see what outside the admin; every page and the API ask here.

A rule that is decided elsewhere will be forgotten elsewhere: views, API, exports and
selectors take `visible_parts` for one submission and `public()` or `inside()` for queries.
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
    """What is open to staff only, and the permission that opens it.

    The permissions are those that open the same rows in the admin; docs/operating.md
    lists them.
    """

    # submissions that are private or not published, their files, errors, costs and
    # scores, and the team behind an anonymous one
    SEE_SUBMISSIONS = "leaderboard.view_submission"
    # what comparisons and joint evaluations cost, also of those not yet approved
    SEE_COMPARISONS = "leaderboard.view_comparison"
    SEE_JOINT_EVALUATIONS = "leaderboard.view_jointevaluation"
    # ask for a comparison or joint evaluation of other teams' systems
    ASK_COMPARISONS = "leaderboard.add_comparison"
    ASK_JOINT_EVALUATIONS = "leaderboard.add_jointevaluation"
    # the staff routes of the API
    SEE_CAMPAIGNS = "crowd.view_campaign"
    SEE_WORKERS = "crowd.view_worker"
    SEE_BANS = "quality.view_ban"
    SEE_JUDGES = "leaderboard.view_judgerun"
    # tasks as bundles, their hidden references, and loading a task from one
    EXPORT_TASKS = "leaderboard.view_task"
    SEE_REFERENCES = "leaderboard.change_task"
    IMPORT_TASKS = "leaderboard.add_task"


# From the first numbers on a submission stands on its board; before, and when its file
# was unusable or it was declined, it concerns its team and staff only.
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
    """What one viewer sees of one submission.

    `inner` is what concerns the team and staff: errors, failures, cost, the story in
    its own words. `identity` is who made it. `money` is what its campaign has spent.
    """

    page: bool
    identity: bool
    inner: bool
    team: bool
    money: bool


def visible_parts(
    submission: Submission, viewer: AbstractBaseUser | AnonymousUser | None
) -> VisibleParts:
    """Decide what the viewer sees."""
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
    """Tell whether a stranger gets the page: on the board, or withdrawn from it."""
    if submission.visibility != Submission.Visibility.PUBLIC:
        return False
    # a result that was public keeps its page, which says that it was withdrawn; links
    # from papers must not end nowhere
    withdrawn = submission.state == State.WITHDRAWN and bool(submission.published_at)
    return submission.state in ON_BOARD or withdrawn


def public(path: str = "") -> Q:
    """Select what everybody sees on a board; `path` leads to the submission."""
    return Q(
        **{
            f"{path}visibility": Submission.Visibility.PUBLIC,
            f"{path}state__in": ON_BOARD,
        }
    )


def inside(viewer: AbstractBaseUser | AnonymousUser | None, path: str = "") -> Q:
    """Select what the viewer sees from inside: their teams' own, and as staff all.

    Whoever has roles on some tasks only sees those of these tasks.
    """
    on_tasks = open_to(viewer, [Staff.SEE_SUBMISSIONS], f"{path}task__slug")
    if on_tasks is None:
        return Q(**{f"{path}pk__isnull": False})  # an empty Q selects nothing in an OR
    return Q(**{f"{path}team__in": team_ids(viewer)}) | on_tasks


def team_ids(viewer: AbstractBaseUser | AnonymousUser | None) -> frozenset[int]:
    """Give the viewer's teams."""
    if viewer is None or not viewer.is_authenticated:
        return frozenset()
    ids: Any = Team.members.through.objects.filter(user_id=viewer.pk)
    return frozenset(ids.values_list("team_id", flat=True))
