"""Requests for joint evaluations: several systems side by side (RankME)."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction
from django.db.models import QuerySet

from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.designs import base
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import JointEvaluation
from leaderboard.evaluation.services.request import (
    create_request,
    document_names,
    shared_by,
)
from leaderboard.stats.blocks import balanced_blocks
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import ON_BOARD
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.drafts.documents import whole_first
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.selectors import CLOSED

# Per page, and in all if a page shows only some of them.
MOST_ON_PAGE, MOST_SYSTEMS = base.MOST_ON_PAGE, 100
MOST_WORKERS = 9
Rows = list[Instance] | QuerySet[Instance]


def criteria_of(task: Task) -> dict[str, str]:
    return dict(task.configuration.joint.criteria)


def human_for(joint: JointEvaluation) -> HumanConfig:
    every = criteria_of(joint.task)
    chosen = {name: every[name] for name in joint.criteria if name in every}
    return replace(joint.task.configuration.joint, criteria=chosen)


@transaction.atomic
def request(
    systems: Sequence[Submission],
    *,
    by: Account,
    criteria: Sequence[str] = (),
    n_instances: int = 0,
    n_workers: int = 1,
    per_page: int | None = None,
) -> JointEvaluation:
    """Store a request; with `per_page`, each instance's page shows other systems."""
    if not systems:
        raise GenieError(
            "Choose at least 2 systems, not 0.", code="wrong-number-of-systems"
        )
    task = systems[0].task
    most = all_designs()[task.configuration.joint.design].n_outputs[1]
    if per_page is None and len(systems) > most:
        per_page = most  # no page of this design shows more
    per_page = None if per_page == len(systems) else per_page
    _check_systems(systems, per_page, most)
    known = criteria_of(task)
    chosen = list(criteria) or list(known)
    n = n_instances or task.sample_size
    problems = [
        (
            not set(chosen) <= set(known),
            f"{task.title} has the criteria {', '.join(known)}",
        ),
        (
            not 1 <= n <= task.n_instances,
            f"there are 1 to {task.n_instances:,} instances",
        ),
        (
            not 1 <= n_workers <= MOST_WORKERS,
            f"1 to {MOST_WORKERS} workers can rate an instance",
        ),
    ]
    for wrong, sentence in problems:
        if wrong:
            raise GenieError(
                f"This joint evaluation is not possible: {sentence}.",
                code="unusable-question",
            )
    joint = create_request(
        systems,
        JointEvaluation,
        by=by.pk,
        design=task.configuration.joint.design,
        n_instances=n,
        page_by=task.configuration.joint.page_by,
        criteria=chosen,
        n_asked=n,
        n_workers=n_workers,
        per_page=per_page,
    )
    systems_pks = [system.pk for system in systems]
    joint.seed = seed_for("joint evaluation", joint.pk, *systems_pks)
    joint.save(update_fields=["seed"])
    return joint


def shown_together(
    joint: JointEvaluation, systems: Sequence[Submission], n_pages: int, *, what: str
) -> list[list[Submission]]:
    """Return the systems of each page in order, in a balanced design."""
    if joint.per_page is None or not n_pages:
        return [list(systems)] * n_pages
    seed = seed_from(what, joint.seed)
    blocks = balanced_blocks(len(systems), joint.per_page, n_pages, seed=seed)
    return [[systems[i] for i in block] for block in blocks]


def shared_instances(
    task: Task, systems: Sequence[Submission], *, n: int
) -> tuple[list[Instance], Rows]:
    """Return up to `n` instances that all systems have outputs for, and the others.

    In the task's random order; with documents, whole ones if one is short enough.
    """
    rows: Rows = shared_by(task, systems).order_by("sample_rank")
    if page_by := task.configuration.joint.page_by:
        places, whole = whole_first(document_names(page_by, rows), n)
        if whole <= n:
            rows, n = [rows[place] for place in places], whole
    return list(rows[:n]), rows[n:]


def _check_systems(
    systems: Sequence[Submission], per_page: int | None, most_of_design: int
) -> None:
    on_page = min(MOST_ON_PAGE, most_of_design)
    most = on_page if per_page is None else MOST_SYSTEMS
    if not 2 <= len(systems) <= most:
        more = (
            f", or up to {MOST_SYSTEMS} with fewer per page" if most == on_page else ""
        )
        raise GenieError(
            f"Choose 2 to {most} systems{more}, not {len(systems)}.",
            code="wrong-number-of-systems",
        )
    largest = min(on_page, len(systems) - 1)
    if per_page is not None and not 2 <= per_page <= largest:
        raise GenieError(
            f"A page can show 2 to {largest} of these systems, or all of up to "
            f"{on_page}; not {per_page}.",
            code="wrong-number-of-systems",
        )
    if len({system.pk for system in systems}) < len(systems):
        raise GenieError("A system is named twice.", code="same-submission")
    if len({system.task_id for system in systems}) > 1:
        raise GenieError(
            "The submissions are for different tasks.", code="different-tasks"
        )
    if any(system.task.imported for system in systems):
        raise GenieError(CLOSED, code="not-comparable")
    # Ratings of programs and of people are never ranked together.
    if len({system.simulated for system in systems}) > 1:
        raise GenieError(
            "Some submissions are rated by simulated annotators and others by people.",
            code="not-comparable",
        )
    for system in systems:
        if system.state not in ON_BOARD:
            raise GenieError(
                f"{system.system_name} is {system.get_state_display()}; its "
                "predictions must be validated and measured first.",
                code="not-comparable",
            )
