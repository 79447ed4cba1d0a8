"""Load a draft's task, and submit each system's outputs to it."""

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction

from crowd.workers.services import invitations
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.evaluation.run import advance
from leaderboard.studio.models import Draft
from leaderboard.submissions.models import Submission, Team
from leaderboard.submissions.services import submit
from leaderboard.tasks.drafts.ask import offered_designs
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.models import Task
from leaderboard.tasks.services import bundles

State = Submission.State
UNDER_WAY = {State.RECEIVED, State.VALID}


@dataclass(frozen=True)
class Made:
    task: Task
    created: bool
    submissions: list[Submission]


@transaction.atomic
def make(
    bundle: Bundle,
    systems: Mapping[str, Mapping[str, str]],
    *,
    owner: Account,
    by_link: bool = False,
) -> Made:
    """Load the bundle's task and submit the missing systems, or change nothing.

    It may be called again: existing rows stay. A new task with `by_link` is shown only
    to people with its link.

    Raises ``edited`` if the task now has a design that no draft has, and the errors of
    `bundles.import_bundle`.
    """
    _refuse_to_undo(bundle)
    report = bundles.import_bundle(bundle, by=owner)
    if by_link and report.created:
        invitations.close_pool(report.task.slug, by=owner)
    team = _team(owner)
    for name, outputs in systems.items():
        if submissions_of(report.task, [name], owner=owner):
            continue
        submit.receive(
            task=report.task,
            owner=owner,
            team=team,
            system_name=name,
            file=io.BytesIO(json.dumps(outputs, ensure_ascii=False).encode()),
            file_name=f"{name}.json",
        )
    rows = submissions_of(report.task, systems, owner=owner)
    return Made(report.task, report.created, rows)


def _refuse_to_undo(bundle: Bundle) -> None:
    """Refuse to overwrite a task.toml that was edited and loaded."""
    task = Task.objects.filter(slug=bundle.slug).first()
    if task is None or task.human.design in offered_designs():
        return
    raise GenieError(
        f"{task.slug} was loaded with the design {task.human.design}, which would be "
        "lost. Load its task.toml with `genie import-task`, submit systems with "
        "`genie submit`, and approve submissions on the approval page.",
        code="edited",
    )


def submissions_of(
    task: Task, systems: Iterable[str], *, owner: Account
) -> list[Submission]:
    """Return a user's submissions of these systems, in order.

    Other users may have submitted systems of the same names.
    """
    systems = list(systems)
    rows = Submission.objects.filter(
        task=task, owner_id=owner.pk, system_name__in=[name.strip() for name in systems]
    )
    by_name = {
        row.system_name: row
        for row in rows.exclude(own_state=State.WITHDRAWN).order_by("pk")
    }
    named = [by_name.get(name.strip()) for name in systems]
    return [row for row in named if row is not None]


def systems_of(draft: Draft) -> list[Submission]:
    if draft.task is None:
        return []
    names = dict.fromkeys(draft.state.get("systems", []))
    return submissions_of(draft.task, names, owner=draft.owner)


def measure(made: Made, *, seconds: float = 900) -> Made:
    """Run the queue in this process until all systems are checked and measured.

    Raises ``not-measured``, with the state of each system.
    """

    def is_measured() -> bool:
        states = Submission.objects.filter(pk__in=[one.pk for one in made.submissions])
        waiting = states.filter(own_state__in=UNDER_WAY, failure_permanent=False)
        if not waiting.exists():
            return True
        if waiting.exclude(failure="").exists():
            advance()
        return False

    jobs.drain(is_measured, seconds=seconds)
    rows = [Submission.objects.get(pk=one.pk) for one in made.submissions]
    lacking = [_lack(row) for row in rows if row.state in UNDER_WAY | {State.INVALID}]
    if lacking:
        raise GenieError(" ".join(lacking), code="not-measured")
    return Made(made.task, made.created, rows)


def _lack(row: Submission) -> str:
    said = [str(error["message"]) for error in row.errors] or [row.work.failure]
    return f"{row.system_name}: {' '.join(said).strip() or 'not measured in time.'}"


def _team(owner: Account) -> Team:
    try:
        return submit.team_for(owner)
    except GenieError as error:
        if error.code != "team-required":
            raise
        return Team.objects.filter(members=owner).order_by("pk")[0]
