"""Two systems: a wave of pairs is sent out, and its labels decide or another follows.

The rule looks when a wave is complete, at labels in the random order in which the pairs
were drawn and stored. In the middle of a wave, quick and easy pairs would be
overrepresented.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from django.db import transaction
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.campaigns.services.claim import (
    give_up_reservation,
    pass_on_reservation,
    reserve_for_one_worker,
)
from crowd.campaigns.services.run import refresh_share
from crowd.hits.models import HIT, Campaign
from crowd.hits.selectors import campaign_progress, is_done
from crowd.hits.services.build import add_slot, extend, room
from crowd.money.services import budgets
from crowd.pricing import Quote
from genie.lib.errors import GenieError
from leaderboard.evaluation import campaigns, machine, waves
from leaderboard.evaluation.campaigns import waits_for_exclusions
from leaderboard.evaluation.expected import expected_decision
from leaderboard.evaluation.models.comparison import Comparison, CountedVote
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.price import quote_comparison
from leaderboard.evaluation.selectors.comparison_labels import (
    Votes,
    answers_read,
    decide,
    known_labels,
    labels_from,
    n_workers_at_first,
    n_workers_at_most,
    needs_third,
    rule_of,
    votes_are_final,
    votes_of,
    with_balanced_sides,
)
from leaderboard.evaluation.services import public_log
from leaderboard.evaluation.services.comparison import key_of
from leaderboard.evaluation.services.hidden.drawn import before_launch
from leaderboard.evaluation.services.items import Part
from leaderboard.evaluation.services.score import signature_of
from leaderboard.stats.stopping.sequential import Decision
from leaderboard.submissions import states
from leaderboard.tasks.config import ComparisonConfig

# The end of a comparison: its result and the votes behind it are stored.
State = states.State


def result(comparison: Comparison, state: str, votes: Sequence[Votes]) -> Decision:
    labels = labels_from(comparison, votes, last=votes_are_final(state))
    workers = [pair.workers for pair in votes]
    return decide(rule_of(comparison), *known_labels(labels, workers))


@transaction.atomic
def write(
    comparison: Comparison, state: str, decision: Decision, votes: Sequence[Votes]
) -> None:
    """Store the end and its votes; the caller has locked the comparison's row.

    Later bans, appeals and rejections change who counts. The decision stays as stored,
    and only these votes can reproduce it.
    """
    comparison.sides_balanced = comparison.task.configuration.comparison.correct_side
    labels = labels_from(comparison, votes, last=votes_are_final(state))
    if comparison.sides_balanced:
        slots = [pair.slot_of_a for pair in votes]
        decision = with_balanced_sides(decision, labels, slots)
    # A comparison that staff stopped has no decision, whatever its labels are.
    decided = decision.side != "undecided" and state == State.DECIDED
    comparison.better = decision.side if decided else ""
    comparison.n_labels = decision.n
    if decision.n:
        answers = answers_read(votes, labels, decision.n, {})
        comparison.result = Score.objects.create(
            submission=comparison.a,
            evaluation=comparison,
            estimator=Score.PREFERENCE,
            criterion=comparison.criterion,
            **decision.flat("mean"),
            n=decision.n,
            n_workers=len({worker for worker, *_ in answers}),
            covers="which pairs were drawn and which workers preferred one of each",
            seed=comparison.seed,
            ratings_sha256=hashlib.sha256(str(answers).encode()).hexdigest(),
            signature=signature_of(
                comparison.task,
                human=comparison.design,
                criterion=comparison.criterion,
                rule=f"{comparison.rule}{comparison.delta:g}",
                labels=comparison.strategy,
                n=decision.n,
                seed=comparison.seed,
            ),
        )
    comparison.votes_kept = True
    names = "better n_labels result sides_balanced votes_kept"
    comparison.save(update_fields=names.split())
    public_log.result(
        comparison,
        state=state,
        better=comparison.better,
        n_labels=comparison.n_labels,
        estimate=decision.estimate if decision.n else None,
        low=decision.low,
        high=decision.high,
    )
    CountedVote.objects.bulk_create(
        [
            CountedVote(pair_id=pair.pair_pk, worker_id=worker, value=value)
            for pair in votes
            for worker, value in zip(pair.workers, pair.values, strict=True)
        ],
        batch_size=1_000,
    )


@dataclass(frozen=True)
class Look:
    votes: list[Votes]
    last: bool
    complete: bool
    decision: Decision


class ComparisonOfTwo:
    """Pairs of outputs, wave by wave, until one system is found better."""

    def human(self, comparison: Comparison) -> ComparisonConfig:
        return waves.human_of(comparison)

    def cost(self, comparison: Comparison) -> Quote:
        return quote_comparison(self.human(comparison), comparison)

    def n_workers(self, comparison: Comparison) -> int:
        if comparison.strategy == Comparison.Strategy.FIXED:
            return 1
        return self.human(comparison).n_workers_wanted

    def forecast(self, comparison: Comparison, cents: int) -> list[str]:
        return expected_decision(comparison, self.n_workers(comparison))

    def check_launch(self, comparison: Comparison) -> None:
        """Do nothing: the platform is checked for all strategies."""

    def plan(self, comparison: Comparison, used: Collection[str] = ()) -> list[Part]:
        return [waves.whole(comparison, used)]

    def keys(self, comparison: Comparison) -> list[str]:
        return [key_of(comparison.pk)]

    def end_early(self, comparison: Comparison) -> None:
        votes = votes_of(comparison)
        write(
            comparison, State.STOPPED, result(comparison, State.STOPPED, votes), votes
        )

    def launch(self, comparison: Comparison) -> None:
        human = self.human(comparison)
        wave = waves.wave_of(comparison, 0, comparison.wave_size)
        if not wave.pairs:
            raise GenieError(
                "The two submissions have no instance in common.",
                code="nothing-to-compare",
            )
        before_launch(comparison, human, [wave.whole])
        n_pairs = len(wave.whole.judged)
        with transaction.atomic():
            machine.hold(comparison)
            campaign = campaigns.build(
                comparison,
                human,
                wave.part,
                budget_cents=comparison.approved_cents or 0,
                starts_at=timezone.now(),
                ratings_per_item=n_workers_at_first(
                    comparison.strategy, comparison.n_workers
                ),
            )
            # Here the rule asks for more, wave by wave; staff cannot.
            Campaign.objects.filter(pk=campaign.pk).update(answers_per_hit=None)
            # Before workers can take a HIT: the first worker who comes gets the rest,
            # too.
            if comparison.strategy == Comparison.Strategy.FIXED:
                reserve_for_one_worker(campaign)
            waves.remember(comparison, campaign, wave)
            machine.move(
                comparison, State.ANNOTATING, design=human.design, n_instances=n_pairs
            )
            run.start_due()

    def collect(self, comparison: Comparison) -> None:
        # Detection and decision take time and hold no lock.
        look = _look(comparison)
        with transaction.atomic():
            now = cast("Comparison", machine.lock(comparison.pk))
            if now.state == State.ANNOTATING:
                _go_on(now, look)
        # Another wave may be out, of which each worker may also do a share.
        refresh_share(Campaign.objects.get(pk=comparison.campaign.pk))

    def score(self, comparison: Comparison) -> None:
        """Do nothing: a comparison is decided while ratings come in."""

    def publish(self, comparison: Comparison) -> None:
        """Do nothing: the decision is not rewritten."""


def _look(comparison: Comparison) -> Look:
    campaign = comparison.campaign
    campaigns.grade_and_judge(comparison.task, [campaign], in_waves=True)
    look = _look_at(comparison, campaign)
    ends = look.complete or campaign.state == Campaign.State.STOPPED
    if ends and not waits_for_exclusions([campaign]):
        # the end or continuation must be based on all answers
        campaigns.grade_and_judge(
            comparison.task, [campaign], in_waves=True, complete=True
        )
        look = _look_at(comparison, campaign)
    return look


def _look_at(comparison: Comparison, campaign: Campaign) -> Look:
    last, votes = is_done(campaign), votes_of(comparison)
    labels = labels_from(comparison, votes, last=last)
    known = known_labels(labels, [pair.workers for pair in votes])
    complete = last or None not in labels
    return Look(votes, last, complete, decide(rule_of(comparison), *known))


def _go_on(comparison: Comparison, look: Look) -> None:
    campaign = comparison.campaign
    give_up_reservation(campaign)
    pass_on_reservation(campaign)
    # An exclusion that waits for staff may change which votes count.
    if waits_for_exclusions([campaign]):
        return
    if campaign.state == Campaign.State.STOPPED:
        votes = votes_of(comparison)
        stopped = result(comparison, State.STOPPED, votes)
        _finish(comparison, State.STOPPED, stopped, votes)
        return
    if look.votes != votes_of(comparison) or look.last != is_done(campaign):
        return  # an answer or a ban came meanwhile; the next step looks again
    if _ask_thirds(comparison, look.votes) or not look.complete:
        return
    if look.decision.side != "undecided":
        _finish(comparison, State.DECIDED, look.decision, look.votes)
    elif not _next_wave(comparison, campaign, len(look.votes)):
        _finish(comparison, State.UNDECIDED, look.decision, look.votes)


def _ask_thirds(comparison: Comparison, votes: Sequence[Votes]) -> bool:
    split = [v.item_pk for v in votes if needs_third(comparison.strategy, v.values)]
    if not split:
        return False
    # Only pairs without an open or assigned HIT still need a third worker.
    twice = HIT.objects.filter(items__in=split, n_available=0)
    new = [
        hit for hit in twice if not hit.assignments.filter(state="ACCEPTED").exists()
    ]
    for hit in new:
        add_slot(hit.pk)
    return True


def _next_wave(comparison: Comparison, campaign: Campaign, n_pairs: int) -> bool:
    each = n_workers_at_first(comparison.strategy, comparison.n_workers)
    spare = n_workers_at_most(comparison.strategy, comparison.n_workers) - each
    affordable = room(campaign).n_assignments
    left = comparison.n_instances - n_pairs
    if affordable is not None:
        # The money for each pair's possible third vote is reserved from the start.
        left = min(left, affordable // (each + spare))
    wave = waves.wave_of(comparison, n_pairs, min(comparison.wave_size, left), left)
    if not wave.pairs:
        return False
    if affordable is not None:
        thirds = len(wave.pairs) * spare
        # The rest of the money after all thirds buys test questions.
        wave = wave.within((affordable - thirds) // each)
    extend(campaign.pk, wave.specs, max_assignments=each)
    waves.remember(comparison, campaign, wave)
    return True


def _finish(
    comparison: Comparison, state: str, decision: Decision, votes: Sequence[Votes]
) -> None:
    # code that sends work out again after a ban waits for this lock
    campaign = Campaign.objects.select_for_update().get(pk=comparison.campaign.pk)
    write(comparison, state, decision, votes)
    machine.move(comparison, state)
    run.complete(campaign.pk)
    budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
