"""Test questions drawn before their campaign, stored and reused as drawn."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.evaluation.models.human_evaluation import (
    ConfirmedOutput,
    HumanEvaluation,
)
from leaderboard.evaluation.services.hidden.compared import ONE, VIEWS, Compared, views
from leaderboard.evaluation.services.hidden.in_slots import hidden_pairs
from leaderboard.evaluation.services.hidden.offers import CONFIRMED, used_texts
from leaderboard.evaluation.services.hidden.references import campaign_questions
from leaderboard.evaluation.services.hidden.single import for_one_output
from leaderboard.evaluation.services.items import Part
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import REFERENCES, HumanConfig
from leaderboard.tasks.config.human import STUDY
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import (
    design_of,
    task_view,
)
from leaderboard.tasks.services.inputs import instances_for_tests
from quality.test_questions.models import DrawnTests, TestCheck
from quality.test_questions.separability.measure import ENOUGH
from quality.test_questions.services import HiddenItem, Planned

State = HumanEvaluation.State


def tests_of(
    evaluation: HumanEvaluation,
    human: HumanConfig,
    campaign_key: str,
    seed: int,
    draw: Callable[[int], Planned],
    used: Collection[str],
) -> Planned:
    """Return a campaign's stored questions; draw them if none are stored.

    `used` has fingerprints of texts that other evaluations are about to ask.

    They do not change while the campaign runs. Before, they are drawn again if the
    task's way of asking has changed, another evaluation asked one of their texts, or
    staff no longer confirm an output as good.
    """
    row = evaluation.drawn_tests.filter(campaign_key=campaign_key).first()
    if row is None or (
        evaluation.state != State.ANNOTATING
        and not _fits(row, evaluation.task, human, used)
    ):
        return draw(seed)
    items = [
        HiddenItem(**{**question, "spec": ItemSpec(**question["spec"])})
        for question in row.questions
    ]
    return Planned(items, row.n_wanted, row.notes)


def keep_tests(
    evaluation: HumanEvaluation, human: HumanConfig, parts: Sequence[Part]
) -> None:
    evaluation.drawn_tests.all().delete()
    rows = DrawnTests.objects.bulk_create(
        DrawnTests(
            campaign_key=part.key,
            asked_how=_asked_how(evaluation.task, human),
            n_wanted=part.planned.n_wanted,
            notes=part.planned.notes,
            questions=[asdict(item) for item in part.hidden],
            texts=sorted({item.text_sha256 for item in part.hidden} - {""}),
        )
        for part in parts
    )
    evaluation.drawn_tests.set(rows)


def digest_of(parts: Sequence[Part]) -> str:
    return _sha256({part.key: [asdict(item) for item in part.hidden] for part in parts})


def is_kept(
    evaluation: HumanEvaluation,
    human: HumanConfig,
    keys: Sequence[str],
    used: Collection[str] = (),
) -> bool:
    rows = {row.campaign_key: row for row in evaluation.drawn_tests.all()}
    return all(
        key in rows and _fits(rows[key], evaluation.task, human, used) for key in keys
    )


def _fits(
    row: DrawnTests, task: Task, human: HumanConfig, used: Collection[str]
) -> bool:
    return (
        row.asked_how == _asked_how(task, human)
        and (used_texts(task, but=row.campaign_key) | {*used}).isdisjoint(row.texts)
        and _all_confirmed(row.questions)
    )


def _all_confirmed(questions: Sequence[Mapping[str, Any]]) -> bool:
    wanted = {
        (question["made_from"]["submission"], question["spec"]["data"]["prediction"])
        for question in questions
        if question["kind"] == CONFIRMED
    }
    rows = ConfirmedOutput.objects.filter(
        prediction__submission__in={submission for submission, _ in wanted}
    )
    return wanted <= {*rows.values_list("prediction__submission", "prediction__text")}


def _asked_how(task: Task, human: HumanConfig) -> str:
    # Consent texts do not change a question.
    how = {name: said for name, said in asdict(human).items() if name not in CONSENT}
    return _sha256([task.sample_size, task.kind, how, asdict(task_view(task, human))])


def _sha256(content: object) -> str:
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, default=str).encode()
    ).hexdigest()


def plan_test_questions(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    submission: Submission | None,
    seed: int,
    *,
    campaign_key: str,
    n_items: int,
    used: Collection[str] = (),
) -> Planned:
    """Draw the test questions of one campaign of a submission.

    Without a submission, only the task's references and public outputs are used. `used`
    has the fingerprints of texts of the evaluation's other campaigns.
    """
    systems = [] if submission is None else [submission]
    n_positive, n_negative = human.n_test_questions(n_items)
    n = n_positive + n_negative
    if human.test_questions == REFERENCES:
        items = campaign_questions(
            task,
            human,
            criteria,
            instances_for_tests(task, human, seed, n=n),
            campaign_key=campaign_key,
            n_positive=n_positive,
            n_negative=n_negative,
            seed=seed,
        )
        return Planned(items, len(items))
    if not design_of(task, human).in_slots():
        return for_one_output(
            task,
            human,
            criteria,
            systems,
            campaign_key=campaign_key,
            n_items=n_items,
            seed=seed,
            used=used,
        )
    instances = instances_for_tests(task, human, seed, n=n)
    items = hidden_pairs(
        task,
        human,
        criteria,
        instances,
        systems=systems,
        campaign_key=campaign_key,
        n=n,
        seed=seed,
        used=used,
    )
    return Planned(items, n)


# Whether a campaign's test questions or their keys can be recognized.
#
# It is measured before work is approved, and again if the launched questions are not the
# measured ones; above the limit, staff need a reason to start.

CONSENT = {"consent", *STUDY}
# With few questions one draw is not informative: further draws are added.
N_DRAWS = 4


def measure_tests(
    evaluation: HumanEvaluation, human: HumanConfig, parts: Sequence[Part]
) -> TestCheck | None:
    """Measure the campaign whose questions stand out most; the row is not saved yet."""
    systems = list(
        Submission.objects.filter(evaluated__evaluation=evaluation).order_by(
            "evaluated__position"
        )
    )
    checks = [
        _check(evaluation, human, systems, part, [p for p in parts if p is not part])
        for part in parts
        if part.planned.n_wanted
    ]
    worst = max(
        checks,
        key=lambda c: (c.refused, c.n_wanted - c.n_found, max(c.auc, c.key_auc or 0)),
        default=None,
    )
    if worst is not None:
        worst.digest = digest_of(parts)
    return worst


def _check(
    evaluation: HumanEvaluation,
    human: HumanConfig,
    systems: Sequence[Submission],
    part: Part,
    others: Sequence[Part],
) -> TestCheck:
    own = [part.submission] if part.submission else systems
    compared, sides_of = Compared(evaluation.task, human, own), views()
    asked = _specs_of(part)
    twice = {item.spec.content_key for item in part.hidden} & {
        spec.content_key for spec in asked
    }
    beside = [
        s for one in others for s in (*_specs_of(one), *(t.spec for t in one.hidden))
    ]
    compared.add(part.hidden, asked, sides_of, seed=part.seed, beside=beside)
    for draw in range(1, 1 if evaluation.simulated else N_DRAWS):
        if len(part.hidden) * draw >= ENOUGH:
            break
        seed = seed_from("another draw", part.seed, draw)
        drawn = part.draw(seed).items
        # Other inputs are left out of the sample then.
        taken = {item.spec.content_key for item in drawn} if not twice else set()
        left = [spec for spec in asked if spec.content_key not in taken]
        compared.add(drawn, left, sides_of, seed=seed, beside=beside)
    found = {
        view: (
            sides.tests.told_from(sides.real, part.seed),
            sides.good.told_from(sides.bad, part.seed),
        )
        for view, sides in sides_of.items()
        if others or view == ONE or VIEWS[view][1]
    }
    view = max(
        found, key=lambda v: max((one.stands_out, one.estimate) for one in found[v])
    )
    tests, key = found[view]
    verdict = f"For {view}: {tests.verdict} {key.verdict_on_key}".strip()
    if twice:
        verdict += (
            f" {len(twice):,} of {len(part.hidden):,} test questions show an input "
            "whose output is rated, too: leave more inputs out of the sample."
        )
    return TestCheck(
        n_wanted=part.planned.n_wanted,
        n_found=len(part.hidden),
        kinds=dict(sorted(Counter(item.kind for item in part.hidden).items())),
        **tests.flat("auc"),
        best_feature=tests.best_feature,
        best_feature_auc=tests.best_feature_auc,
        key_auc=key.estimate if key.is_measured else None,
        verdict=verdict,
        refused=tests.stands_out or key.stands_out,
    )


def _specs_of(part: Part) -> list[ItemSpec]:
    return [item.spec for some in (part.judged, part.anchors) for item in some]


def objections(check: TestCheck) -> list[str]:
    """Return the reasons against a start."""
    said: list[str] = []
    if check.n_found < check.n_wanted:
        said.append(
            f"Only {check.n_found:,} of {check.n_wanted:,} test questions can be made "
            "without showing a text a second time."
        )
    # A published method is chosen with tests that stand out; staff see the verdict.
    if check.refused and not check.evaluation.task.configuration.method:
        said.append(check.verdict)
    return said


@transaction.atomic
def keep_check(
    evaluation: HumanEvaluation,
    check: TestCheck | None,
    human: HumanConfig,
    parts: Sequence[Part],
) -> None:
    TestCheck.objects.filter(evaluation=evaluation).delete()
    if check is not None:
        check.save()
    evaluation.test_check = check
    evaluation.save(update_fields=["test_check"])
    keep_tests(evaluation, human, parts)


def before_launch(
    evaluation: HumanEvaluation, human: HumanConfig, parts: Sequence[Part]
) -> None:
    """Measure again if the launched questions are not the measured ones.

    Raises GenieError ``tests-stand-out`` if staff have not accepted the objections.
    """
    old = TestCheck.objects.filter(evaluation=evaluation).first()
    if old is None:
        return
    if old.digest != digest_of(parts):
        new = measure_tests(evaluation, human, parts)
        keep_check(evaluation, new, human, parts)
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
