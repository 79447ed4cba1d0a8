"""Whether a campaign's test questions or their keys can be recognized.

It is measured before work is approved, and again if the launched questions are not the
measured ones; above the limit, staff need a reason to start.
"""

from collections import Counter
from collections.abc import Sequence

from django.db import transaction

from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.evaluation.services.hidden import drawn
from leaderboard.evaluation.services.hidden.compared import Compared, Sides
from leaderboard.evaluation.services.parts import Part
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import HumanConfig
from quality.test_questions.separability.measure import ENOUGH

# With few questions one draw is not informative: further draws are added.
N_DRAWS = 4


def check_of(evaluation: HumanEvaluation, parts: Sequence[Part]) -> TestCheck | None:
    """Measure the campaign whose questions stand out most; the row is not saved yet."""
    systems = list(
        Submission.objects.filter(evaluated__evaluation=evaluation).order_by(
            "evaluated__position"
        )
    )
    checks = [
        _check(evaluation, systems, part) for part in parts if part.planned.n_wanted
    ]
    worst = max(
        checks,
        key=lambda c: (c.refused, c.n_wanted - c.n_found, max(c.auc, c.key_auc or 0)),
        default=None,
    )
    if worst is not None:
        worst.digest = drawn.digest_of(parts)
    return worst


def _check(
    evaluation: HumanEvaluation, systems: Sequence[Submission], part: Part
) -> TestCheck:
    sides = Sides()
    real = [item.spec for item in part.judged] + [item.spec for item in part.anchors]
    compared = Compared(evaluation.task, systems, real)
    compared.add(part.hidden, sides, seed=part.seed)
    for draw in range(1, 1 if evaluation.simulated else N_DRAWS):
        if len(part.hidden) * draw >= ENOUGH:
            break
        seed = seed_from("another draw", part.seed, draw)
        compared.add(part.draw(seed).items, sides, seed=seed)
    found = sides.tests.told_from(sides.real, part.seed)
    key = sides.good.told_from(sides.bad, part.seed)
    return TestCheck(
        evaluation=evaluation,
        n_wanted=part.planned.n_wanted,
        n_found=len(part.hidden),
        kinds=dict(sorted(Counter(item.kind for item in part.hidden).items())),
        **found.flat("auc"),
        best_feature=found.best_feature,
        best_feature_auc=found.best_feature_auc,
        key_auc=key.estimate if key.measured else None,
        verdict=f"{found.verdict} {key.verdict_on_key}".strip(),
        refused=found.refused or key.refused,
    )


def objections(check: TestCheck) -> list[str]:
    """Return the reasons against a start; none if programs answer."""
    said: list[str] = []
    if check.evaluation.simulated:
        return said
    if check.n_found < check.n_wanted:
        said.append(
            f"Only {check.n_found:,} of {check.n_wanted:,} test questions can be made "
            "without showing a text a second time."
        )
    if check.refused:
        said.append(check.verdict)
    return said


@transaction.atomic
def keep(
    evaluation: HumanEvaluation,
    check: TestCheck | None,
    human: HumanConfig,
    parts: Sequence[Part],
) -> None:
    TestCheck.objects.filter(evaluation=evaluation).delete()
    if check is not None:
        check.save()
    drawn.keep(evaluation, human, parts)


def before_launch(
    evaluation: HumanEvaluation, human: HumanConfig, parts: Sequence[Part]
) -> None:
    """Measure again if the launched questions are not the measured ones.

    Raises GenieError ``tests-stand-out`` if staff have not accepted the objections.
    """
    old = TestCheck.objects.filter(evaluation=evaluation).first()
    if old is None:
        return
    if old.digest != drawn.digest_of(parts):
        new = check_of(evaluation, parts)
        keep(evaluation, new, human, parts)
        if new is None:
            return
        old = new
    if objections(old) and old.accepted_at is None:
        raise GenieError(
            "The test questions had to be drawn again since they were approved. "
            + " ".join(objections(old))
            + " To retry this step is to start in spite of this.",
            code="tests-stand-out",
            permanent=True,
        )
