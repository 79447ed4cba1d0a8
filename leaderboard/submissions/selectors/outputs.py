"""A submission's outputs beside their inputs, and beside another system's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.paginator import Page
from django.db.models import Q

from genie.lib.serving.pages import page_of
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.submissions.selectors.visibility import (
    ON_BOARD,
    VisibleParts,
    is_public,
    public,
    team_ids,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

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
        may_see |= Q(team__in=teams, state__in=ON_BOARD)
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
        fields=task.shown(instance.fields),
        references=[]
        if task.hidden_references
        else [task.output(str(r)) for r in instance.references],
        text=task.output(prediction.text),
        position=instance.position,
    )
