"""How well a script finds a task's test questions, over many draws."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from crowd.hits.services.build import ItemSpec
from genie.lib.seeds import seed_from
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden.compared import Compared
from leaderboard.evaluation.services.hidden.drawn import planned
from leaderboard.metrics.base import Batch
from leaderboard.metrics.rouge import RougeL
from leaderboard.metrics.sacrebleu_metrics import ChrF
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.models import Task
from quality.test_questions.separability.measure import Separability, Sides
from quality.test_questions.services import HiddenItem, item_key

EDIT = "edit:"


Floats = NDArray[np.float64]
Edited = tuple[str, str, Sequence[str]]


@dataclass
class _Found(Sides):
    kinds: Counter[str] = field(default_factory=Counter)
    edits: list[Edited] = field(default_factory=list)


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

    The comparison is that of one worker's items, who never meets an input twice. Each
    repetition draws everything anew: questions, places and keys.
    """
    compared: dict[str, list[Separability]] = {}
    kinds: Counter[str] = Counter()
    edits: list[Edited] = []
    for repeat in range(n_repeats):
        found = _drawn(task, systems, n_draws=n_draws, seed=seed + repeat)
        kinds += found.kinds
        edits += found.edits
        pairs = {
            "tests and real items": (found.tests, found.real),
            "positive ones and real items": (found.good, found.real),
            "negative ones and real items": (found.bad, found.real),
            "positive and negative ones": (found.good, found.bad),
        }
        for name, (one, two) in pairs.items():
            told = one.told_from(two, seed + repeat, n_shuffles=n_shuffles)
            compared.setdefault(name, []).append(told)
    return TaskStudy(
        task.slug, len(systems), compared, dict(sorted(kinds.items())), _moved(edits)
    )


def _drawn(
    task: Task, systems: Sequence[Submission], *, n_draws: int, seed: int
) -> _Found:
    found = _Found()
    for number, system in enumerate(systems):
        studied = _System(task, system, number * task.n_instances, seed)
        for draw in range(n_draws):
            studied.draw(found, seed_from("study", seed, system.system_name, draw))
    return found


class _System:
    def __init__(
        self, task: Task, system: Submission, first_group: int, seed: int
    ) -> None:
        self.task, self.system = task, system
        self.rows = {
            content_key(task.slug, row.instance_id): row
            for row in task.instances.order_by("position")
        }
        self.texts = dict(
            Prediction.objects.filter(submission=system).values_list(
                "instance_id", "text"
            )
        )
        self.compared = Compared(
            task,
            [system],
            self._judged(f"study-{seed_from('keys', seed, system.system_name)}"),
            own=False,
            first_group=first_group,
        )

    def draw(self, found: _Found, seed: int) -> None:
        human = self.task.human
        drawn = planned(
            self.task,
            human,
            human.separate()[0],
            self.system,
            seed,
            campaign_key=f"study-{seed}",
            n_items=self.task.sample_size,
        ).items
        self.compared.add(drawn, found, seed=seed)
        for item in drawn:
            found.kinds[item.kind] += 1
            if item.kind.startswith(EDIT):
                found.edits += self._edit(item)

    def _judged(self, campaign_key: str) -> list[ItemSpec]:
        return [
            ItemSpec(
                key=item_key(campaign_key, "judged", row.instance_id),
                data={"prediction": self.texts[row.pk]},
                content_key=key,
            )
            for key, row in self.rows.items()
            if row.sample_rank < self.task.sample_size and row.pk in self.texts
        ]

    def _edit(self, item: HiddenItem) -> list[Edited]:
        row = self.rows[item.spec.content_key]
        if row.pk not in self.texts or not row.references:
            return []
        return [(self.texts[row.pk], str(item.spec.data["prediction"]), row.references)]


def _moved(edits: Sequence[Edited]) -> Moved | None:
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
        "| task | compared | AUC | 95 % interval | best single feature | its AUC |",
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
