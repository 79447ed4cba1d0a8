"""A comparison at work: a wave of pairs goes out, its labels decide, or another goes.

The rule looks when a wave is complete, at labels in the random order in which the pairs
were drawn and stored. In the middle of a wave the quick and easy pairs would speak first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from crowd.models import HIT, Campaign
from crowd.selectors.progress import campaign_progress, is_done
from crowd.services import fund, reserve, run, slots, watch
from crowd.services.build import ItemSpec, build_campaign
from crowd.services.extend import extend, room
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import SLOTS
from leaderboard.models import (
    ComparedPair,
    Comparison,
    HumanEvaluation,
    Instance,
    Prediction,
)
from leaderboard.selectors.compared_labels import (
    Votes,
    asked_at_first,
    decide,
    labels_from,
    rule_of,
    votes_of,
    wants_third,
)
from leaderboard.services import (
    asking,
    closing,
    compare,
    compare_end,
    items,
    qualification,
)
from leaderboard.services.campaign_titles import comparison_title
from leaderboard.services.items import Entry, JudgedSpec
from leaderboard.services.steps_of_several import attempt
from leaderboard.stats.sequential import Decision
from quality.services import grade, inject, judge

State = Comparison.State


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
        return [one.spec for one in self.pairs] + [one.spec for one in self.hidden]


@dataclass(frozen=True)
class Look:
    """What was seen when a comparison was looked at, and what the rule says of it."""

    votes: list[Votes]
    last: bool
    complete: bool
    decision: Decision


def step(pk: int) -> None:
    """Do what comes next for a comparison; nothing when people are still at work."""
    attempt(Comparison, _step, pk)


def _step(pk: int) -> None:
    found = _rows().get(pk=pk)
    if found.state == State.APPROVED:
        with transaction.atomic():
            found = _locked(pk)
            if found.state == State.APPROVED:
                _first_wave(found)
    elif found.state == State.RUNNING and found.evaluation is not None:
        # Judging and deciding take their time: nobody waits for a lock meanwhile.
        look = _look(found, found.evaluation.campaign)
        with transaction.atomic():
            found = _locked(pk)
            if found.state == State.RUNNING:
                _go_on(found, look)


def _rows() -> QuerySet[Comparison]:
    return Comparison.objects.select_related(
        "task", "a", "b", "evaluation__campaign__hit_type"
    )


def _locked(pk: int) -> Comparison:
    return _rows().select_for_update(of=("self",)).get(pk=pk)


def drawn(comparison: Comparison) -> Drawn:
    """Draw the instances that both systems have outputs for, always in the same order."""
    both = Instance.objects.filter(
        task_id=comparison.task_id, predictions__submission=comparison.a_id
    ).filter(predictions__submission=comparison.b_id)
    rows = list(both.order_by("position"))
    rng = generator(seed_from("pairs", comparison.seed))
    order = [rows[int(index)] for index in rng.permutation(len(rows))]
    human = asking.human_of(comparison.task, compare.TABLE)
    n_pairs = min(comparison.max_pairs, len(order))
    while n_pairs > 1 and n_pairs + _n_tests(human, n_pairs) > len(order):
        n_pairs -= 1
    with_references = [one for one in order[n_pairs:] if asking.has_references(one)]
    n_tests = min(_n_tests(human, n_pairs), max(0, len(with_references) - 1))
    return Drawn(order[:n_pairs], with_references[: n_tests + 1 if n_tests else 0])


def _n_tests(human: dict[str, object], n_pairs: int) -> int:
    return compare.n_tests_for(human, n_pairs)


def _first_wave(found: Comparison) -> None:
    human = asking.human_of(found.task, compare.TABLE)
    key = compare.key_of(found.pk)
    wave = _wave(found, 0, found.wave_size)
    if not wave.pairs:
        raise GenieError(
            "The two submissions have no instance in common.", code="nothing-to-compare"
        )
    criteria = {found.criterion: compare.criteria_of(found.task)[found.criterion]}
    campaign = build_campaign(
        key=key,
        pool=found.task.slug,
        title=comparison_title(
            found.task.title, found.a.system_name, found.b.system_name, found.criterion
        ),
        hit_type=asking.hit_type_of(found.task, human, criteria),
        items=wave.specs,
        platform=str(human.get("platform", "selfhosted")),
        budget_cents=found.approved_cents or 0,
        seed=found.seed,
        starts_at=timezone.now(),
        exposure=str(human.get("exposure", "task")),
        simulated=found.simulated,
        max_assignments=asked_at_first(found.strategy, found.n_workers),
    )
    qualification.require_of(found.task, campaign)
    if found.strategy == Comparison.Strategy.FIXED:
        reserve.for_one_worker(campaign)
    found.evaluation = HumanEvaluation.objects.create(
        task=found.task,
        campaign=campaign,
        design=str(human["design"]),
        n_instances=len(drawn(found).pairs),
        seed=found.seed,
    )
    _remember(found, campaign, wave)
    found.state = State.RUNNING
    found.save(update_fields=["state", "evaluation"])
    run.start_due()


def _look(found: Comparison, campaign: Campaign) -> Look:
    """Judge who works on it, then see what the labels that count say."""
    grade.grade(campaign)
    judge.judge(
        campaign.pool,
        simulated=campaign.simulated,
        noisy_below=asking.noisy_below(found.task.human),
    )
    watch.watch(campaign)
    last, votes = is_done(campaign), votes_of(found)
    labels = labels_from(found, votes, last=last)
    known = [one for one in labels if one is not None]
    complete = last or len(known) == len(labels)
    return Look(votes, last, complete, decide(rule_of(found), known))


def _go_on(found: Comparison, look: Look) -> None:
    if found.evaluation is None:
        return
    campaign = found.evaluation.campaign
    reserve.give_up(campaign)
    reserve.pass_on(campaign)
    if closing.waits([campaign]):
        return
    if campaign.state == Campaign.State.STOPPED:
        votes = votes_of(found)
        stopped = compare_end.result(found, State.STOPPED, votes)
        _finish(found, State.STOPPED, stopped, votes)
        return
    if look.votes != votes_of(found) or look.last != is_done(campaign):
        return  # an answer or a ban came between; the next step looks again
    if _ask_thirds(found, look.votes) or not look.complete:
        return
    if look.decision.side != "undecided":
        _finish(found, State.DECIDED, look.decision, look.votes)
    elif not _next_wave(found, campaign, len(look.votes)):
        _finish(found, State.UNDECIDED, look.decision, look.votes)


def _ask_thirds(found: Comparison, votes: Sequence[Votes]) -> bool:
    """Send each pair on which two workers disagree to a third, once."""
    split = [v.item_pk for v in votes if wants_third(found.strategy, v.values)]
    if not split:
        return False
    twice = HIT.objects.filter(items__in=split, n_available=0)
    new = [
        hit for hit in twice if not hit.assignments.filter(state="ACCEPTED").exists()
    ]
    for hit in new:
        slots.add(hit.pk)
    return True


def _next_wave(found: Comparison, campaign: Campaign, n_pairs: int) -> bool:
    """Send out another wave, as large as pairs and money allow; False when none is left."""
    each = asked_at_first(found.strategy, found.n_workers)
    affordable = room(campaign).n_assignments
    size = found.wave_size
    if affordable is not None:
        size = min(size, affordable // (each + _spare(found)))
    wave = _wave(found, n_pairs, size)
    if not wave.pairs:
        return False
    if affordable is not None:
        thirds = len(wave.pairs) * _spare(found)
        wave = _within(wave, (affordable - thirds) // each)
    extend(campaign.pk, wave.specs, max_assignments=each)
    _remember(found, campaign, wave)
    return True


def _spare(found: Comparison) -> int:
    return 1 if found.strategy == Comparison.Strategy.MAX_THREE else 0


def _within(wave: Wave, n_items: int) -> Wave:
    """Leave test questions out where the money is for the pairs only."""
    n_hidden = max(0, n_items - len(wave.pairs))
    return Wave(wave.number, wave.first_position, wave.pairs, wave.hidden[:n_hidden])


def _wave(found: Comparison, start: int, size: int) -> Wave:
    human = asking.human_of(found.task, compare.TABLE)
    key = compare.key_of(found.pk)
    available = drawn(found)
    chosen = available.pairs[start : start + max(0, size)]
    texts: dict[tuple[int, int], str] = {
        (submission, instance): text
        for submission, instance, text in Prediction.objects.filter(
            submission__in=[found.a_id, found.b_id], instance__in=chosen
        ).values_list("submission_id", "instance_id", "text")
    }
    pairs = [
        items.judged(
            found.task,
            human,
            instance,
            [Entry(texts[pk, instance.pk], pk) for pk in (found.a_id, found.b_id)],
            campaign_key=key,
            seed=found.seed,
        )
        for instance in chosen
    ]
    first, after = (compare.n_tests_for(human, n) for n in (start, start + len(chosen)))
    return Wave(found.n_waves, start, pairs, _tests(found, available)[first:after])


def _tests(found: Comparison, available: Drawn) -> list[inject.HiddenItem]:
    if len(available.tests) < 2:
        return []
    human = asking.human_of(found.task, compare.TABLE)
    return items.hidden_pairs(
        found.task,
        human,
        {found.criterion: ""},
        available.tests,
        campaign_key=compare.key_of(found.pk),
        n=len(available.tests) - 1,
        seed=found.seed,
    )


def _remember(found: Comparison, campaign: Campaign, wave: Wave) -> None:
    if found.evaluation is None:
        raise ValueError("A running comparison has an evaluation.")
    item_of = dict(campaign.items.values_list("key", "pk"))
    rows = items.remember(found.evaluation, item_of, wave.pairs)
    ComparedPair.objects.bulk_create(
        [
            ComparedPair(
                comparison=found,
                judged_item=row,
                position=wave.first_position + place,
                wave=wave.number,
                slot_of_a=next(s for s in SLOTS if one.slots.get(s) == found.a_id),
            )
            for place, (row, one) in enumerate(zip(rows, wave.pairs, strict=True))
        ]
    )
    inject.place(campaign, wave.hidden)
    found.n_waves = wave.number + 1
    found.save(update_fields=["n_waves"])


def _finish(
    found: Comparison, state: str, decision: Decision, votes: Sequence[Votes]
) -> None:
    """Write the result, withdraw what nobody has taken, free what is not spent."""
    if found.evaluation is None:
        raise ValueError("A running comparison has an evaluation.")
    # whoever sends work out again after a ban waits here
    campaign = Campaign.objects.select_for_update().get(pk=found.evaluation.campaign_id)
    found.failure = ""
    found.finished_at = timezone.now()
    compare_end.write(found, state, decision, votes)
    run.complete(campaign.pk)
    fund.settle(campaign.key, campaign_progress(campaign).spent_cents)
