"""Test questions drawn before their campaign, stored and reused as drawn."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from crowd.hits.services.build import ItemSpec
from leaderboard.evaluation.models.confirmed_output import ConfirmedOutput
from leaderboard.evaluation.models.drawn_tests import DrawnTests
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.hidden.offers import (
    CONFIRMED,
    Planned,
    used_texts,
)
from leaderboard.evaluation.services.parts import Part
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import task_view
from quality.test_questions.services import HiddenItem

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


def keep(
    evaluation: HumanEvaluation, human: HumanConfig, parts: Sequence[Part]
) -> None:
    evaluation.drawn_tests.all().delete()
    DrawnTests.objects.bulk_create(
        DrawnTests(
            evaluation=evaluation,
            campaign_key=part.key,
            asked_how=_asked_how(evaluation.task, human),
            n_wanted=part.planned.n_wanted,
            notes=part.planned.notes,
            questions=[asdict(item) for item in part.hidden],
            texts=sorted({item.text_sha256 for item in part.hidden} - {""}),
        )
        for part in parts
    )


def digest_of(parts: Sequence[Part]) -> str:
    content = {part.key: [asdict(item) for item in part.hidden] for part in parts}
    return _sha256(content)


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
    how = {name: said for name, said in asdict(human).items() if name != "consent"}
    view = asdict(task_view(task, human))
    return _sha256([task.sample_size, task.kind, how, view])


def _sha256(content: object) -> str:
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, default=str).encode()
    ).hexdigest()
