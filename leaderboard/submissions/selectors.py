from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page
from django.db.models import Min, Q, QuerySet

from genie.accounts.staff import open_to, staff_may
from genie.lib.serving.pages import page_of
from leaderboard.submissions import states
from leaderboard.submissions.models import Prediction, Submission, Team

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


# Permissions outside the admin; every page and the API use these functions.
#
# Code elsewhere must not decide on its own: views, API, exports and selectors call
# `visible_parts` for one submission and `public()` or `inside()` for queries.
State = Submission.State
_TEAMS = "_team_ids"


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
_OF_SUBMISSION = {*Submission.OWN} - {State.MEASURED}
HAS_FAILED = Q(failure__gt="") | Q(
    human_evaluation__failure__gt="", human_evaluation__state__in=states.STEPS
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


def in_state(*shown: str, path: str = "") -> Q:
    """Return the filter for states as pages show them; `path` leads to the submission."""
    of_evaluation = {*shown} - _OF_SUBMISSION - {State.PUBLISHED}
    found = Q(**{f"{path}own_state__in": {*shown} & _OF_SUBMISSION})
    measured = {f"{path}own_state": State.MEASURED}
    if State.PUBLISHED in shown:
        found |= Q(**measured, **{f"{path}published_at__isnull": False})
    if of_evaluation:
        found |= Q(
            **measured,
            **{f"{path}published_at": None},
            **{
                f"{path}human_evaluation__state__in": states.states_behind(
                    of_evaluation
                )
            },
        )
    return found


def is_published(path: str = "") -> Q:
    return in_state(State.PUBLISHED, path=path)


def awaits_publication(path: str = "") -> Q:
    return in_state(State.SCORED, path=path)


def is_withdrawn(path: str = "") -> Q:
    return in_state(State.WITHDRAWN, path=path)


def is_public(submission: Submission) -> bool:
    """Return whether everyone sees the page: it is, or was, on the board."""
    if submission.visibility != Submission.Visibility.PUBLIC:
        return False
    # a published result keeps its page after a withdrawal, so that links from papers
    # still work
    withdrawn = submission.is_withdrawn and bool(submission.published_at)
    return submission.state in ON_BOARD or withdrawn


def public(path: str = "") -> Q:
    """Return the filter for everything on a board; `path` leads to the submission."""
    shown = Q(**{f"{path}visibility": Submission.Visibility.PUBLIC})
    return shown & in_state(*ON_BOARD, path=path)


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
    """Return the viewer's teams, read once per request."""
    if viewer is None or not viewer.is_authenticated:
        return frozenset()
    kept: frozenset[int] | None = getattr(viewer, _TEAMS, None)
    if kept is None:
        rows: Any = Team.members.through.objects.filter(user_id=viewer.pk)
        kept = frozenset(rows.values_list("team_id", flat=True))
        setattr(viewer, _TEAMS, kept)
    return kept


def one_each(rows: QuerySet[Submission]) -> QuerySet[Submission]:
    """Return one submission of each evaluation: staff decide on its systems together."""
    first = rows.order_by().values("human_evaluation").annotate(first=Min("pk"))
    return rows.filter(Q(human_evaluation=None) | Q(pk__in=first.values("first")))


# A submission's outputs beside their inputs, and beside another system's.
PER_PAGE = 25
# Readers would not look through a longer list; it has the newest systems.
N_RIVALS = 100


@dataclass(frozen=True)
class Output:
    """One instance: its labeled fields, its references if public, the output."""

    instance_id: str
    fields: list[tuple[str, str]]
    references: list[str]
    text: str
    position: int


def outputs_are_open(submission: Submission) -> bool:
    """Return whether everyone may read the outputs: after people have rated them.

    Test questions are made of outputs: a worker who could look up the original would
    know the changed texts.
    """
    return submission.published_at is not None


def seen_as_staff(submission: Submission, view: VisibleParts) -> bool:
    """Return whether the viewer sees it only as staff."""
    is_open = is_public(submission) and outputs_are_open(submission)
    return view.inner and not view.team and (submission.anonymous_now or not is_open)


def outputs_page(positions: list[int], number: str | None) -> Page[int]:
    return page_of(positions, PER_PAGE, number)


def predictions_at(
    submission: Submission, positions: Iterable[int]
) -> list[Prediction]:
    """Return the predictions at these positions, in order."""
    wanted_positions = list(positions)
    rows = (
        Prediction.objects.filter(
            submission=submission, instance__position__in=wanted_positions
        )
        .select_related("instance")
        .only(
            "text",
            "submission_id",
            "instance__instance_id",
            "instance__position",
            "instance__fields",
        )
    )
    if not submission.task.hidden_references:
        rows = rows.only(
            "text",
            "submission_id",
            "instance__instance_id",
            "instance__position",
            "instance__fields",
            "instance__references",
        )
    # Hidden references are not even read: data that was not fetched cannot leak.
    index_of = {position: i for i, position in enumerate(wanted_positions)}
    return sorted(rows, key=lambda row: index_of[row.instance.position])


def texts_at(submission: Submission, positions: Iterable[int]) -> dict[int, str]:
    rows = Prediction.objects.filter(
        submission=submission, instance__position__in=list(positions)
    )
    texts = rows.values_list("instance__position", "text")
    return {position: submission.task.output(text) for position, text in texts}


def rivals(
    submission: Submission, viewer: AbstractBaseUser | AnonymousUser | None
) -> list[tuple[int, str]]:
    """Return the task's newest systems with outputs that the viewer may read."""
    may_see = public()
    teams = team_ids(viewer)
    if teams:
        may_see |= Q(in_state(*ON_BOARD), team__in=teams)
    rows = Submission.objects.filter(may_see, task=submission.task_id).exclude(
        pk=submission.pk
    )
    # like its page: a team's own systems, and published ones
    rows = rows.filter(Q(published_at__isnull=False) | Q(team__in=teams))
    ordered = rows.order_by("-published_at", "-pk")
    return list(ordered.values_list("pk", "system_name")[:N_RIVALS])


def output(submission: Submission, prediction: Prediction) -> Output:
    task, instance = submission.task, prediction.instance
    return Output(
        instance_id=instance.instance_id,
        fields=task.labeled_fields(instance.fields),
        references=[]
        if task.hidden_references
        else [task.output(str(r)) for r in instance.references],
        text=task.output(prediction.text),
        position=instance.position,
    )
