"""Whether a campaign's test questions can be told from its other items: the measurement.

What is compared is what everybody can see of an item: the text beside its input, beside
references and outputs that are public, its place and its key. Inputs that occur twice are
left out of it: nobody is shown an input twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.utils.text import Truncator

from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.designs.base import content_key
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.evaluation.services.hidden.single import Planned
from leaderboard.evaluation.services.hidden.surfaces import compared, seen_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task
from quality.test_questions.separability.measure import Separability, separability


def measured(
    task: Task,
    submission: Submission,
    judged: Sequence[ItemSpec],
    planned: Planned,
    *,
    seed: int,
) -> Separability:
    """Measure how well a script tells a campaign's test questions from its other items."""
    tests = [item.spec for item in planned.items]
    keys = sorted({spec.content_key for spec in (*judged, *tests)})
    every = {
        content_key(task.slug, row.instance_id): row for row in task.instances.all()
    }
    rows = {key: every[key] for key in keys}
    seen = seen_of(task, [submission], list(rows.values()))
    found = compared(seen, rows, judged, tests, seed=seed)
    return separability(found.tests, found.items, seed, groups=found.groups)


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
