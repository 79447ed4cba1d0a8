"""Whether a campaign's test questions can be told from its other items: the measurement.

What is compared is what everybody can see of an item: the text beside its input, beside
references and outputs that are public, its place and its key. Inputs that occur twice are
left out of it: nobody is shown an input twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.text import Truncator

from crowd.hits.services.build import ItemSpec, order_of_hits
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.designs.base import content_key
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.evaluation.services.hidden.single import Planned
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.tasks.models import Task
from quality.test_questions.separability.features import Surface, surface_features
from quality.test_questions.separability.measure import Separability, separability

# Of so many other systems' public outputs a script is expected to know.
N_PUBLISHED = 5


def measured(
    task: Task,
    submission: Submission,
    judged: Sequence[ItemSpec],
    planned: Planned,
    *,
    seed: int,
) -> Separability:
    """Measure how well a script tells a campaign's test questions from its other items."""
    specs = [*judged, *(item.spec for item in planned.items)]
    place_of = {at: place for place, at in enumerate(order_of_hits(specs, seed))}
    public = _public_texts(task, submission, [spec.content_key for spec in specs])
    surfaces = [
        Surface(
            text=str(spec.data["prediction"]),
            source=" ".join(str(row["text"]) for row in spec.data.get("fields", ())),
            references=public[spec.content_key]["references"],
            published=public[spec.content_key]["outputs"],
            key=spec.key,
            position=place_of[at] / len(specs),
            listed=bool(public[spec.content_key]["listed"]),
        )
        for at, spec in enumerate(specs)
    ]
    features = surface_features(surfaces)
    n = len(judged)
    return separability(features[n:], features[:n], seed)


def check_of(
    evaluation: HumanEvaluation, planned: Planned, found: Separability
) -> TestCheck:
    """Put what was found into a row that is not kept yet."""
    kinds: dict[str, int] = defaultdict(int)
    for item in planned.items:
        kinds[item.kind] += 1
    return TestCheck(
        evaluation=evaluation,
        n_wanted=planned.n_wanted,
        n_found=len(planned.items),
        kinds=dict(sorted(kinds.items())),
        auc=found.auc,
        low=found.low,
        high=found.high,
        best_feature=found.best_feature,
        best_feature_auc=found.best_feature_auc,
        verdict=found.verdict,
        refused=found.refused,
    )


def objections(check: TestCheck) -> list[str]:
    """Say what speaks against a start; empty where nothing does."""
    said = []
    if check.n_found < check.n_wanted:
        said.append(
            f"Only {check.n_found:,} of {check.n_wanted:,} test questions can be made "
            "without showing a text a second time."
        )
    if check.refused:
        said.append(check.verdict)
    return said


def refuse(check: TestCheck) -> None:
    """Say that a person's word is needed.

    Raises
    ------
    GenieError
        ``tests-stand-out``, with the reasons.
    """
    raise GenieError(
        " ".join(objections(check))
        + " Say why the campaign starts in spite of this, or change the task.",
        code="tests-stand-out",
    )


def keep(check: TestCheck, *, by: Account, despite: str, at: Any) -> None:
    """Write the measurement down, with who let the campaign start in spite of it."""
    if objections(check):
        check.accepted_by_id = by.pk
        check.accepted_at = at
        check.accepted_because = Truncator(despite.strip()).chars(500)
    # A declined evaluation that is approved later is measured anew.
    TestCheck.objects.filter(evaluation=check.evaluation).delete()
    check.save()


def _public_texts(
    task: Task, submission: Submission, keys: Sequence[str]
) -> Mapping[str, dict[str, Any]]:
    rows = {
        content_key(task.slug, row.instance_id): row for row in task.instances.all()
    }
    of = {
        key: {
            "references": [] if task.hidden_references else rows[key].references,
            "outputs": [],
            "listed": rows[key].sample_rank < task.sample_size,
        }
        for key in set(keys)
    }
    key_of = {rows[key].pk: key for key in of}
    others = Submission.objects.filter(
        task=task,
        state=Submission.State.PUBLISHED,
        visibility=Submission.Visibility.PUBLIC,
    ).exclude(pk=submission.pk)
    pks = list(others.order_by("-pk").values_list("pk", flat=True)[:N_PUBLISHED])
    outputs = Prediction.objects.filter(submission__in=pks, instance__in=key_of)
    for instance, text in outputs.values_list("instance_id", "text"):
        of[key_of[instance]]["outputs"].append(text)
    return of
