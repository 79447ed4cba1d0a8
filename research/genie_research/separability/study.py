"""How well a script finds a task's test questions, over many draws."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from crowd.hits.services.build import ItemSpec
from genie.lib.seeds import seed_from
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden.compared import Compared, views
from leaderboard.evaluation.services.hidden.drawn import plan_test_questions
from leaderboard.evaluation.strategies.single_system import rated_outputs
from leaderboard.metrics.base import Batch
from leaderboard.metrics.rouge import RougeL
from leaderboard.metrics.sacrebleu_metrics import ChrF
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task
from quality.test_questions.separability.measure import Separability
from quality.test_questions.services import HiddenItem, item_key

EDIT = "edit:"


Floats = NDArray[np.float64]
Edited = tuple[str, str, Sequence[str]]


@dataclass(frozen=True)
class Moved:
    """The effect of the edits on metrics: mean scores before and after."""

    n: int
    chrf: tuple[float, float]
    rouge_l: tuple[float, float]


@dataclass(frozen=True)
class TaskStudy:
    slug: str
    n_systems: int
    # comparison -> separability in each repetition
    found: dict[str, list[Separability]]
    kinds: dict[str, int]
    moved: Moved | None


def study_task(
    task: Task,
    systems: Sequence[Submission],
    *,
    n_draws: int,
    seed: int,
    n_repeats: int = 1,
    n_shuffles: int = 99,
) -> TaskStudy:
    """Draw the test questions of each system's campaign, and measure them together.

    In each draw the campaigns of all systems run at the same time. Each repetition
    draws everything anew: questions, places and keys.
    """
    compared: dict[str, list[Separability]] = {}
    kinds: Counter[str] = Counter()
    edits: list[Edited] = []
    human = task.human
    for repeat in range(n_repeats):
        sides_of = views()
        studied = [
            Compared(task, human, [one], own=False, first_group=n * task.n_instances)
            for n, one in enumerate(systems)
        ]
        for draw in range(n_draws):
            seeds = [
                seed_from("study", seed + repeat, s.system_name, draw) for s in systems
            ]
            parts = [_part(one, s) for one, s in zip(systems, seeds, strict=True)]
            for n, (drawn, judged) in enumerate(parts):
                beside = [
                    spec
                    for other, (tests, real) in enumerate(parts)
                    if other != n
                    for spec in (*(test.spec for test in tests), *real)
                ]
                studied[n].add(drawn, judged, sides_of, seed=seeds[n], beside=beside)
                kinds.update(item.kind for item in drawn)
                edits += _edits(systems[n], drawn)
        for view, sides in sides_of.items():
            pairs = {
                "tests and real items": (sides.tests, sides.real),
                "positive and negative ones": (sides.good, sides.bad),
            }
            for name, (one, two) in pairs.items():
                told = one.told_from(two, seed + repeat, n_shuffles=n_shuffles)
                compared.setdefault(f"{name}, {view}", []).append(told)
    return TaskStudy(
        task.slug,
        len(systems),
        compared,
        dict(sorted(kinds.items())),
        _measure_moves(edits),
    )


def _part(system: Submission, seed: int) -> tuple[list[HiddenItem], list[ItemSpec]]:
    task, human = system.task, system.task.human
    tests = plan_test_questions(
        task,
        human,
        human.separate()[0],
        system,
        seed,
        campaign_key=f"study-{seed}",
        n_items=task.sample_size,
    ).items
    return tests, [
        ItemSpec(
            key=item_key(f"study-{seed}", "judged", row.instance.instance_id),
            data={"prediction": row.text},
            content_key=content_key(task.slug, row.instance.instance_id),
        )
        for row in rated_outputs(system, human, seed, tests)
    ]


def _edits(system: Submission, drawn: Sequence[HiddenItem]) -> list[Edited]:
    rows = system.predictions.select_related("instance")
    of = {content_key(system.task.slug, r.instance.instance_id): r for r in rows}
    return [
        (row.text, str(item.spec.data["prediction"]), row.instance.references)
        for item in drawn
        if item.kind.startswith(EDIT)
        and (row := of[item.spec.content_key]).instance.references
    ]


def _measure_moves(edits: Sequence[Edited]) -> Moved | None:
    if not edits:
        return None
    before, after, references = zip(*edits, strict=True)
    scores = [
        float(
            np.mean(metric.compute(Batch(list(texts), list(references))).per_instance)
        )
        for metric, texts in (
            (metric, texts)
            for metric in (ChrF(), RougeL())
            for texts in (before, after)
        )
    ]
    return Moved(len(edits), (scores[0], scores[1]), (scores[2], scores[3]))


def _mean(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    error = np.std(values, ddof=1) / len(values) ** 0.5
    return f"{np.mean(values):.3f} ± {error:.3f}"


def as_table(studies: Sequence[TaskStudy]) -> str:
    """Return the studies as a table in Markdown, with the effects on metrics below it.

    Of several repetitions means are shown, with an interval and a feature of the first.
    """
    head = [
        "| task | compared | AUC | 95% interval | best single feature | its AUC |",
        "|---|---|---|---|---|---|",
    ]
    rows = chain.from_iterable(
        [
            f"| {study.slug} | {name} ({found[0].n_tests}, {found[0].n_items}) "
            f"| {_mean([one.estimate for one in found])} "
            f"| {found[0].low:.2f} to {found[0].high:.2f} | {found[0].best_feature} "
            f"| {_mean([one.best_feature_auc for one in found])} |"
            for name, found in study.found.items()
        ]
        for study in studies
    )
    notes = [
        f"{study.slug}: {study.n_systems} systems; "
        + ", ".join(f"{kind} {n}" for kind, n in study.kinds.items())
        + (
            f". Edits move chrF from {study.moved.chrf[0]:.1f} to "
            f"{study.moved.chrf[1]:.1f} and ROUGE-L from {study.moved.rouge_l[0]:.1f} "
            f"to {study.moved.rouge_l[1]:.1f}."
            if study.moved
            else "."
        )
        for study in studies
    ]
    return "\n".join([*head, *rows, "", *notes])
