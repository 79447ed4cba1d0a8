"""The waves of a comparison: which pairs go out together, with which test questions.

Pairs are drawn once, in a stored random order; a wave is the next piece of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowd.hits.models.campaign import Campaign
from crowd.hits.services.build import ItemSpec
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import SLOTS
from leaderboard.evaluation import campaigns
from leaderboard.evaluation.models.comparison import ComparedPair, Comparison
from leaderboard.evaluation.services import items
from leaderboard.evaluation.services.comparison import key_of
from leaderboard.evaluation.services.hidden.in_slots import hidden_pairs
from leaderboard.evaluation.services.items import Entry, JudgedSpec
from leaderboard.submissions.models.submission import Prediction
from leaderboard.tasks.config import ComparisonConfig
from leaderboard.tasks.models import Instance
from leaderboard.tasks.services import configuration
from quality.test_questions.services import inject


@dataclass(frozen=True)
class Drawn:
    """The instances of a comparison in their random order: pairs, and test questions."""

    pairs: list[Instance]
    tests: list[Instance]


@dataclass(frozen=True)
class Wave:
    """One wave before it is built."""

    number: int
    first_position: int
    pairs: list[JudgedSpec]
    hidden: list[inject.HiddenItem]

    @property
    def specs(self) -> list[ItemSpec]:
        return [item.spec for item in self.pairs] + [item.spec for item in self.hidden]

    def within(self, n_items: int) -> Wave:
        """Leave test questions out where the money is for the pairs only."""
        n_hidden = max(0, n_items - len(self.pairs))
        return Wave(
            self.number, self.first_position, self.pairs, self.hidden[:n_hidden]
        )


def human_of(comparison: Comparison) -> ComparisonConfig:
    """Give the task's table that says how pairs are asked about."""
    return comparison.task.configuration.comparison


def drawn(comparison: Comparison) -> Drawn:
    """Draw the instances that both systems have outputs for, always in the same order."""
    both = Instance.objects.filter(
        task_id=comparison.task_id, predictions__submission=comparison.a_id
    ).filter(predictions__submission=comparison.b_id)
    # In a known order before the draw: the seed decides, not the database.
    rows = list(both.order_by("position"))
    rng = generator(seed_from("pairs", comparison.seed))
    order = [rows[int(index)] for index in rng.permutation(len(rows))]
    human = human_of(comparison)
    n_pairs = min(comparison.max_pairs, len(order))
    # Test questions are made of instances that are no pairs. Where systems share few,
    # there are fewer pairs, so that the questions are not left out.
    while n_pairs > 1 and n_pairs + human.n_tests_among(n_pairs) > len(order):
        n_pairs -= 1
    with_references = [
        instance
        for instance in order[n_pairs:]
        if configuration.has_references(instance)
    ]
    n_due = human.n_tests_among(n_pairs)
    # One instance more than questions: each takes its wrong text from another one.
    n_tests = min(n_due, max(0, len(with_references) - 1))
    return Drawn(order[:n_pairs], with_references[: n_tests + 1 if n_tests else 0])


def wave_of(comparison: Comparison, start: int, size: int) -> Wave:
    """Plan the pairs from this position on, with their share of the test questions."""
    human, available = human_of(comparison), drawn(comparison)
    chosen = available.pairs[start : start + max(0, size)]
    systems = (comparison.a_id, comparison.b_id)
    texts: dict[tuple[int, int], str] = {
        (submission, instance): text
        for submission, instance, text in Prediction.objects.filter(
            submission__in=systems, instance__in=chosen
        ).values_list("submission_id", "instance_id", "text")
    }
    pairs = [
        items.judged(
            comparison.task,
            human,
            instance,
            [Entry(texts[pk, instance.pk], pk) for pk in systems],
            campaign_key=key_of(comparison.pk),
            seed=comparison.seed,
        )
        for instance in chosen
    ]
    # Differences of a running total: rounding wave by wave would lose or add questions.
    first, after = (human.n_tests_among(n) for n in (start, start + len(chosen)))
    hidden = _tests(comparison, human, available)[first:after]
    return Wave(comparison.n_waves, start, pairs, hidden)


def remember(comparison: Comparison, campaign: Campaign, wave: Wave) -> None:
    """Write down which pairs are in a wave that has just been built."""
    judged = campaigns.remember(comparison.evaluation, campaign, wave.pairs)
    ComparedPair.objects.bulk_create(
        [
            ComparedPair(
                comparison=comparison,
                judged_item=row,
                position=wave.first_position + place,
                wave=wave.number,
                slot_of_a=next(
                    s for s in SLOTS if pair.slots.get(s) == comparison.a_id
                ),
            )
            for place, (row, pair) in enumerate(zip(judged, wave.pairs, strict=True))
        ]
    )
    inject.place(campaign, wave.hidden)
    comparison.n_waves = wave.number + 1
    comparison.save(update_fields=["n_waves"])


def _tests(
    comparison: Comparison, human: ComparisonConfig, available: Drawn
) -> list[inject.HiddenItem]:
    if len(available.tests) < 2:
        return []
    return hidden_pairs(
        comparison.task,
        human,
        {comparison.criterion: ""},
        available.tests,
        systems=[comparison.a, comparison.b],
        campaign_key=key_of(comparison.pk),
        n=len(available.tests) - 1,
        seed=comparison.seed,
    )
