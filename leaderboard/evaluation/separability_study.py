"""How well a script tells a task's test questions, drawn as for campaigns, many times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from crowd.hits.services.build import ItemSpec, order_of_hits
from genie.lib.seeds import seed_from
from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden.plan import planned
from leaderboard.evaluation.services.hidden.surfaces import Seen, seen_of
from leaderboard.metrics.base import Batch
from leaderboard.metrics.chrf import ChrF
from leaderboard.metrics.rouge_l import RougeL
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.tasks.models import Instance, Task
from quality.test_questions.models import Polarity
from quality.test_questions.separability.features import Surface, surface_features
from quality.test_questions.separability.measure import Separability, separability
from quality.test_questions.services.inject import HiddenItem, item_key

EDIT = "edit:"


@dataclass
class _Side:
    """Items that are compared with others: what is seen of them, and what they are of."""

    surfaces: list[Surface] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Moved:
    """What metrics see of the edits: mean scores before and after, against references."""

    n: int
    chrf: tuple[float, float]
    rouge_l: tuple[float, float]


@dataclass(frozen=True)
class TaskStudy:
    """What was found about one task."""

    slug: str
    n_systems: int
    # what is compared -> how well it can be told
    found: dict[str, Separability]
    kinds: dict[str, int]
    moved: Moved | None


def study_task(
    task: Task,
    systems: Sequence[Submission],
    *,
    n_draws: int,
    seed: int,
    n_shuffles: int = 99,
) -> TaskStudy:
    """Draw the test questions of each system's campaign, and measure them together.

    What one worker sees is compared: nobody meets an input twice, so repeats between
    draws are not counted.
    """
    sides = {"real": _Side(), Polarity.POSITIVE: _Side(), Polarity.NEGATIVE: _Side()}
    kinds: Counter[str] = Counter()
    edits: list[tuple[str, str, Sequence[str]]] = []
    for number, system in enumerate(systems):
        _add_system(task, system, number, n_draws, seed, sides, kinds, edits)
    tests = _together(sides[Polarity.POSITIVE], sides[Polarity.NEGATIVE])
    pairs = {
        "tests and real items": (tests, sides["real"]),
        "positive ones and real items": (sides[Polarity.POSITIVE], sides["real"]),
        "negative ones and real items": (sides[Polarity.NEGATIVE], sides["real"]),
        "positive and negative ones": (
            sides[Polarity.POSITIVE],
            sides[Polarity.NEGATIVE],
        ),
    }
    found = {
        name: separability(
            surface_features(one.surfaces),
            surface_features(two.surfaces),
            seed,
            groups=[*one.groups, *two.groups],
            n_shuffles=n_shuffles,
        )
        for name, (one, two) in pairs.items()
    }
    return TaskStudy(
        task.slug, len(systems), found, dict(sorted(kinds.items())), _moved(edits)
    )


def _add_system(
    task: Task,
    system: Submission,
    number: int,
    n_draws: int,
    seed: int,
    sides: dict[str, _Side],
    kinds: Counter[str],
    edits: list[tuple[str, str, Sequence[str]]],
) -> None:
    rows = {
        content_key(task.slug, row.instance_id): row
        for row in task.instances.order_by("position")
    }
    texts = dict(
        Prediction.objects.filter(submission=system).values_list("instance_id", "text")
    )
    seen = seen_of(task, [system], list(rows.values()))
    for draw in range(n_draws):
        campaign_key = f"study-{system.pk}-{draw}"
        drawn = planned(
            task,
            task.human,
            task.human.separate()[0],
            system,
            campaign_key=campaign_key,
            n_items=task.sample_size,
            seed=seed_from("study", seed, system.system_name, draw),
        ).items
        judged = _judged(task, rows, texts, campaign_key)
        specs = [*judged, *(item.spec for item in drawn)]
        surfaces = _surfaces(seen, rows, specs, seed + draw)
        groups = [
            number * task.n_instances + rows[spec.content_key].position
            for spec in specs
        ]
        # The same real items are there in each draw: once is enough.
        if draw == 0:
            sides["real"].surfaces += surfaces[: len(judged)]
            sides["real"].groups += groups[: len(judged)]
        for at, item in enumerate(drawn, start=len(judged)):
            sides[item.polarity].surfaces.append(surfaces[at])
            sides[item.polarity].groups.append(groups[at])
            kinds[item.kind] += 1
            if item.kind.startswith(EDIT):
                edits += _edit(item, rows[item.spec.content_key], texts)


def _judged(
    task: Task, rows: dict[str, Instance], texts: dict[int, str], campaign_key: str
) -> list[ItemSpec]:
    return [
        ItemSpec(
            key=item_key(campaign_key, "judged", row.instance_id),
            data={"prediction": texts[row.pk]},
            content_key=key,
        )
        for key, row in rows.items()
        if row.sample_rank < task.sample_size and row.pk in texts
    ]


def _surfaces(
    seen: Seen, rows: dict[str, Instance], specs: Sequence[ItemSpec], seed: int
) -> list[Surface]:
    place_of = {at: place for place, at in enumerate(order_of_hits(specs, seed))}
    return [
        seen.surface(
            rows[spec.content_key],
            str(spec.data["prediction"]),
            key=spec.key,
            position=place_of[at] / len(specs),
        )
        for at, spec in enumerate(specs)
    ]


def _together(one: _Side, two: _Side) -> _Side:
    return _Side([*one.surfaces, *two.surfaces], [*one.groups, *two.groups])


def _edit(
    item: HiddenItem, row: Instance, texts: dict[int, str]
) -> list[tuple[str, str, Sequence[str]]]:
    if row.pk not in texts or not row.references:
        return []
    return [(texts[row.pk], str(item.spec.data["prediction"]), row.references)]


def _moved(edits: Sequence[tuple[str, str, Sequence[str]]]) -> Moved | None:
    if not edits:
        return None
    before, after, references = zip(*edits, strict=True)
    scores = [
        float(np.mean(metric.compute(Batch(list(texts), list(references))).per_instance))
        for metric, texts in (
            (metric, texts) for metric in (ChrF(), RougeL()) for texts in (before, after)
        )
    ]
    return Moved(len(edits), (scores[0], scores[1]), (scores[2], scores[3]))


def as_table(studies: Sequence[TaskStudy]) -> str:
    """Write the studies as a table in Markdown, with what metrics see below it."""
    head = [
        "| task | compared | AUC | 95 % interval | best single feature | its AUC |",
        "|---|---|---|---|---|---|",
    ]
    rows = chain.from_iterable(
        [
            f"| {study.slug} | {name} ({found.n_tests}, {found.n_items}) "
            f"| {found.auc:.2f} | {found.low:.2f} to {found.high:.2f} "
            f"| {found.best_feature} | {found.best_feature_auc:.2f} |"
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
