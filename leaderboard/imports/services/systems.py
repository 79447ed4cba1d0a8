"""The systems of an import, and their outputs."""

from collections.abc import Mapping

from django.utils import timezone

from genie.lib.typing import Account
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    HumanEvaluation,
)
from leaderboard.evaluation.models.states import State
from leaderboard.imports.models import Import
from leaderboard.imports.readers.judgments import Texts
from leaderboard.imports.services.bulk import store
from leaderboard.submissions.models import Prediction, Submission, SubmissionEvent, Team

TEAM = "imported"


def submissions_of(
    row: Import, names: Mapping[str, str], *, by: Account
) -> dict[str, int]:
    """Return each system's submission by its name in the files; create new ones."""
    team, _ = Team.objects.get_or_create(
        slug=TEAM, defaults={"name": "Judged elsewhere"}
    )
    known = dict(
        Submission.objects.filter(task=row.task).values_list("system_name", "pk")
    )
    for name in dict.fromkeys(names.values()):
        if name not in known:
            known[name] = _made(row, team, name, by)
    return {name: known[kept] for name, kept in names.items()}


def _made(row: Import, team: Team, name: str, by: Account) -> int:
    evaluation = HumanEvaluation.objects.create(
        task=row.task,
        strategy=HumanEvaluation.Strategy.SINGLE,
        state=State.ANNOTATED,
        design=row.task.human.design,
        n_instances=0,
        seed=0,
        imported=row,
        requested_by=by,
        # the number of rated instances is given by the files, not planned here
        ranks_partial=True,
        finished_at=timezone.now(),
    )
    submission = Submission.objects.create(
        task=row.task,
        team=team,
        owner=by,
        system_name=name,
        file_name="",
        file_bytes=0,
        state=Submission.State.ANNOTATED,
        human_evaluation=evaluation,
    )
    EvaluatedSystem.objects.create(
        evaluation=evaluation, submission=submission, position=0
    )
    SubmissionEvent.objects.create(
        submission=submission,
        state=submission.state,
        sentence="Its judgments were made elsewhere and imported.",
        actor=by,
        # the submitter does not need news of it
        announced_at=timezone.now(),
    )
    return submission.pk


def predict(
    texts: Texts, systems: Mapping[str, int], instances: Mapping[str, int]
) -> None:
    stored = Prediction.objects.filter(submission__in=set(systems.values()))
    known = set(stored.values_list("submission_id", "instance_id"))
    new = {
        (systems[system], instances[instance]): text
        for (system, instance), text in texts.outputs.items()
        if system in systems and instance in instances
    }
    rows = [(*key, text) for key, text in new.items() if key not in known]
    store(
        Prediction,
        {
            "submission_id": [one for one, _, _ in rows],
            "instance_id": [one for _, one, _ in rows],
            "text": [text.replace("\0", "") for _, _, text in rows],
        },
        len(rows),
    )
