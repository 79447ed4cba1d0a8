"""The hidden test questions of a draft: loaded, drawn, and rolled back."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from django.db import transaction

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services import comparison
from leaderboard.evaluation.services.hidden.preview import Part
from leaderboard.evaluation.services.request import requested
from leaderboard.studio.services.look import draft_of
from leaderboard.studio.services.start import question_of_pairs
from leaderboard.submissions.models.submission import Prediction, Submission, Team
from leaderboard.tasks.drafts.ask import Ask
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.models import Task
from leaderboard.tasks.services import bundles

# The first inputs of a large file are enough, and keep the wait short.
MOST_INPUTS = 300


def hidden_questions(
    material: Material, ask: Ask, *, system: int, by: Account
) -> list[Part]:
    """Draw the questions for one system, or for one and the next, without storing.

    They are made like a campaign's, of the task and its outputs in the database. The
    final questions are drawn again once the task is loaded. `ask` must be loadable: its
    slug is free and it has no problems. A `GenieError` states why no questions can be
    made.
    """
    few = replace(material, items=material.items[:MOST_INPUTS])
    drafted = draft_of(few, ask)
    if drafted.bundle is None or drafted.problems:
        raise GenieError(" ".join(drafted.problems), code="unusable-task")
    names = list(material.systems)
    names = names[system:] + names[:system]
    with transaction.atomic():
        try:
            task = bundles.import_bundle(drafted.bundle, by=by).task
            pairs = ask.way.table == "comparison"
            systems = [
                _submitted(task, name, material.systems[name], by=by)
                for name in islice(names, 2 if pairs else 1)
            ]
            first, last = systems[0], systems[-1]
            evaluation = (
                comparison.request(
                    first, last, question_of_pairs(task), by=by
                ).evaluation
                if pairs
                else first.human_evaluation
            )
            return decide.test_questions(evaluation) if evaluation else []
        finally:
            transaction.set_rollback(True)


def _submitted(
    task: Task, name: str, outputs: Mapping[str, str], *, by: Account
) -> Submission:
    """Store a system's rows in the state after measuring."""
    team, _ = Team.objects.get_or_create(slug=task.slug, defaults={"name": task.slug})
    submission = Submission.objects.create(
        task=task,
        team=team,
        owner_id=by.pk,
        system_name=name,
        file_bytes=0,
        state=Submission.State.MEASURED,
    )
    Prediction.objects.bulk_create(
        Prediction(submission=submission, instance=row, text=outputs[row.instance_id])
        for row in task.instances.order_by("position")
    )
    submission.human_evaluation = requested(
        HumanEvaluation.Strategy.SINGLE,
        [submission],
        by=by.pk,
        design=task.human.design,
        n_instances=task.sample_size,
    )
    submission.save(update_fields=["human_evaluation"])
    return submission
