"""Who may see what of a submission; every page and the API ask here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from leaderboard.models import Submission, Team

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

State = Submission.State

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
class Sight:
    """What one viewer sees of one submission.

    `inner` is what concerns the team and staff: errors, failures, cost, the story in
    its own words. `identity` is who made it.
    """

    page: bool
    identity: bool
    inner: bool
    team: bool


def sight(
    submission: Submission, viewer: AbstractBaseUser | AnonymousUser | None
) -> Sight:
    """Decide what the viewer sees; asks the database at most once."""
    team = submission.team_id in team_ids(viewer)
    inner = team or is_staff(viewer)
    return Sight(
        page=inner or is_public(submission),
        identity=inner or not submission.anonymous_now,
        inner=inner,
        team=team,
    )


def is_public(submission: Submission) -> bool:
    """Tell whether a stranger gets the page: on the board, or withdrawn from it."""
    if submission.visibility != Submission.Visibility.PUBLIC:
        return False
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


def team_ids(viewer: AbstractBaseUser | AnonymousUser | None) -> frozenset[int]:
    """Give the viewer's teams."""
    if viewer is None or not viewer.is_authenticated:
        return frozenset()
    ids: Any = Team.members.through.objects.filter(user_id=viewer.pk)
    return frozenset(ids.values_list("team_id", flat=True))


def is_staff(viewer: AbstractBaseUser | AnonymousUser | None) -> bool:
    return bool(
        viewer is not None
        and viewer.is_authenticated
        and (
            getattr(viewer, "is_staff", False) or getattr(viewer, "is_superuser", False)
        )
    )
