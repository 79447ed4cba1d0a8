"""The waves of a comparison: pairs that are sent out together, with test questions.

Pairs are drawn once, in a stored random order; a wave is the next part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from crowd.hit_templates.form import DOCUMENT
from crowd.hits.models import Campaign
from crowd.hits.services.build import ItemSpec
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import SLOTS
from leaderboard.evaluation import campaigns
from leaderboard.evaluation.models.comparison import ComparedPair, Comparison
from leaderboard.evaluation.services import items
from leaderboard.evaluation.services.comparison import criteria_of, key_of
from leaderboard.evaluation.services.hidden.apart import keep_alike_apart
from leaderboard.evaluation.services.hidden.drawn import keep_tests as keep
from leaderboard.evaluation.services.hidden.drawn import tests_of
from leaderboard.evaluation.services.hidden.in_slots import hidden_pairs
from leaderboard.evaluation.services.hidden.offers import N_CANDIDATES
from leaderboard.evaluation.services.items import (
    Entry,
    JudgedSpec,
    Part,
    comparison_title,
)
from leaderboard.evaluation.services.request import document_names
from leaderboard.submissions.models import Prediction
from leaderboard.tasks.config import ComparisonConfig
from leaderboard.tasks.drafts.documents import whole_first, whole_wave
from leaderboard.tasks.models import Instance
from leaderboard.tasks.services import configuration
from quality.test_questions import services
from quality.test_questions.services import Planned


@dataclass(frozen=True)
class Drawn:
    """The instances of a comparison in their random order: pairs, and test questions."""

    pairs: list[Instance]
    # candidates for test questions, their possible number, and the wanted number
    tests: list[Instance]
    n_tests: int
    n_due: int


@dataclass(frozen=True)
class Wave:
    number: int
    first_position: int
    whole: Part
    pairs: list[JudgedSpec]
    hidden: list[services.HiddenItem]

    @property
    def specs(self) -> list[ItemSpec]:
        return [item.spec for item in self.pairs] + [item.spec for item in self.hidden]

    @property
    def part(self) -> Part:
        planned = replace(self.whole.planned, items=self.hidden)
        return replace(self.whole, judged=self.pairs, planned=planned)

    def within(self, n_items: int) -> Wave:
        """Leave test questions out if the money suffices only for `n_items` pairs."""
        return replace(self, hidden=self.hidden[: max(0, n_items - len(self.pairs))])


def human_of(comparison: Comparison) -> ComparisonConfig:
    return comparison.task.configuration.comparison


def draw_instances(comparison: Comparison) -> Drawn:
    """Draw instances that both systems have outputs for, always in the same order."""
    both = Instance.objects.filter(
        task_id=comparison.task_id, predictions__submission=comparison.a_id
    ).filter(predictions__submission=comparison.b_id)
    # In a defined order before the draw: the seed decides, not the database.
    rows = list(both.order_by("position"))
    human = human_of(comparison)
    n_pairs = min(comparison.max_pairs, len(rows))
    # Test questions are made of instances that are no pairs. If systems share few,
    # there are fewer pairs, so that the questions are not left out.
    while n_pairs > 1 and n_pairs + human.n_tests_among(n_pairs) > len(rows):
        n_pairs -= 1
    order, n_pairs = _order_instances(comparison, rows, n_pairs)
    with_references = [
        instance
        for instance in order[n_pairs:]
        if configuration.has_references(instance)
    ]
    n_due = human.n_tests_among(n_pairs)
    # One instance more than questions: each may take its wrong text from another one.
    n_tests = min(n_due, max(0, len(with_references) - 1))
    offered = with_references[: N_CANDIDATES * n_tests + 1 if n_tests else 0]
    return Drawn(order[:n_pairs], offered, n_tests, n_due)


def _order_instances(
    comparison: Comparison, rows: Sequence[Instance], n: int
) -> tuple[list[Instance], int]:
    """Draw the order of instances, after those that were asked already."""
    seed, page_by = seed_from("pairs", comparison.seed), human_of(comparison).page_by
    order = [rows[int(at)] for at in generator(seed).permutation(len(rows))]
    pairs = comparison.pairs.order_by("position")
    asked = list(pairs.values_list("subject__instance_id", flat=True))
    if page_by:
        names = document_names(page_by, rows)
        places, size = whole_first(names, n, generator(seed).permutation)
        began = [rows[place].pk for place in places[: len(asked)]]
        if size <= comparison.max_pairs and began == asked:
            order, n = [rows[place] for place in places], size
    place_of = {pk: place for place, pk in enumerate(asked)}
    return sorted(order, key=lambda row: place_of.get(row.pk, len(asked))), n


def whole(comparison: Comparison, used: Collection[str] = ()) -> Part:
    human, available, key = (
        human_of(comparison),
        draw_instances(comparison),
        key_of(comparison.pk),
    )
    systems = [comparison.a, comparison.b]
    texts: dict[tuple[int, int], str] = {
        (submission, instance): text
        for submission, instance, text in Prediction.objects.filter(
            submission__in=systems, instance__in=available.pairs
        ).values_list("submission_id", "instance_id", "text")
    }
    pairs = [
        items.judged_item(
            comparison.task,
            human,
            instance,
            [Entry(texts[system.pk, instance.pk], system.pk) for system in systems],
            campaign_key=key,
            seed=comparison.seed,
        )
        for instance in available.pairs
    ]
    criteria = {
        comparison.criterion: criteria_of(comparison.task)[comparison.criterion]
    }

    def draw(seed: int) -> Planned:
        hidden = hidden_pairs(
            comparison.task,
            human,
            criteria,
            available.tests,
            systems=systems,
            campaign_key=key,
            n=available.n_tests,
            seed=seed,
            used=used,
        )
        return Planned(hidden, available.n_due)

    one, other = (system.system_name for system in systems)
    title = comparison_title(comparison.task.title, one, other, comparison.criterion)
    seed = comparison.seed
    tests = tests_of(comparison, human, key, seed, draw, used)
    return Part(key, title, criteria, seed, pairs, tests, draw)


def wave_of(
    comparison: Comparison, start: int, size: int, most: int | None = None
) -> Wave:
    """Plan pairs from `start` on; whole documents, up to `most` pairs for a long one."""
    human, every = human_of(comparison), whole(comparison)
    left = every.judged[start:]
    names = [str(one.spec.data.get(DOCUMENT) or one.spec.key) for one in left]
    if human.page_by and left:
        size = whole_wave(names, size, len(left) if most is None else most)
    pairs = left[: max(0, size)]
    # Differences of a running total: rounding wave by wave would lose or add questions.
    first, after = (human.n_tests_among(n) for n in (start, start + len(pairs)))
    return Wave(comparison.n_waves, start, every, pairs, every.hidden[first:after])


def remember(comparison: Comparison, campaign: Campaign, wave: Wave) -> None:
    judged = campaigns.remember(comparison, campaign, wave.pairs)
    ComparedPair.objects.bulk_create(
        [
            ComparedPair(
                comparison=comparison,
                subject=row,
                position=wave.first_position + place,
                wave=wave.number,
                slot_of_a=next(
                    s for s in SLOTS if pair.slots.get(s) == comparison.a_id
                ),
            )
            for place, (row, pair) in enumerate(zip(judged, wave.pairs, strict=True))
        ]
    )
    services.place(campaign, wave.hidden)
    keep_alike_apart(campaign)
    if not comparison.drawn_tests.exists():
        keep(comparison, human_of(comparison), [wave.whole])
    comparison.n_waves = wave.number + 1
    comparison.save(update_fields=["n_waves"])
