"""Is one system better than another? Asking it, pricing it, deciding on the money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.db import transaction

from crowd.pricing import Quote
from crowd.pricing import quote as price
from crowd.selectors.progress import campaign_progress
from crowd.services import fund, run
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.models import Comparison, ComparisonSet, Submission, Task
from leaderboard.selectors.compared_labels import asked_at_most, votes_of
from leaderboard.selectors.sight import ON_BOARD
from leaderboard.services import compare_end, qualification
from leaderboard.services import decisions_on_several as decisions
from leaderboard.services.asking import human_of
from leaderboard.services.steps_of_several import retry as again
from leaderboard.stats.sequential import RULES

State = Comparison.State
Strategy = Comparison.Strategy
JOB = "leaderboard.jobs.compare"
TABLE = "comparison"
DEFAULT_RULE = "beta-mixture"
MOST_PAIRS = 20_000
MOST_WORKERS = 9
MOST_SYSTEMS = 12


@dataclass(frozen=True)
class Question:
    """What is asked: about what, how sure, by whom, and how much at most."""

    criterion: str
    delta: float = 0.05
    rule: str = DEFAULT_RULE
    strategy: str = Strategy.ONE
    n_workers: int = 1
    wave_size: int | None = None
    max_pairs: int = 400


def criteria_of(task: Task) -> dict[str, str]:
    """Give the questions that comparisons of the task can ask."""
    asked = human_of(task, TABLE)["criteria"]
    return {str(key): str(text) for key, text in asked.items()}


@transaction.atomic
def request(
    a: Submission,
    b: Submission,
    question: Question,
    *,
    by: Account,
    within: ComparisonSet | None = None,
) -> Comparison:
    """Note that somebody wants to know; staff approve what it costs."""
    _check_pair(a, b)
    _check_question(a.task, question)
    human = human_of(a.task, TABLE)
    made = Comparison.objects.create(
        task=a.task,
        criterion=question.criterion,
        a=a,
        b=b,
        within=within,
        delta=question.delta,
        rule=question.rule,
        strategy=question.strategy,
        n_workers=question.n_workers,
        wave_size=question.wave_size or int(human["wave_size"]),
        max_pairs=question.max_pairs,
        seed=0,
        simulated=a.simulated or b.simulated,
        requested_by_id=by.pk,
    )
    made.seed = seed_for("comparison", made.pk, a.pk, b.pk, question.criterion)
    made.save(update_fields=["seed"])
    return made


@transaction.atomic
def request_all_pairs(
    systems: Sequence[Submission], question: Question, *, by: Account
) -> ComparisonSet:
    """Compare every system with every other; all decisions together err in delta.

    Each pair gets an equal part of delta (Bonferroni). A pair that is decided asks
    nobody any more; the others go on.
    """
    if not 2 <= len(systems) <= MOST_SYSTEMS:
        raise GenieError(
            f"Choose 2 to {MOST_SYSTEMS} systems, not {len(systems)}.",
            code="wrong-number-of-systems",
        )
    pairs = list(combinations(systems, 2))
    together = ComparisonSet.objects.create(
        task=systems[0].task,
        criterion=question.criterion,
        delta=question.delta,
        requested_by_id=by.pk,
    )
    share = Question(**{**vars(question), "delta": question.delta / len(pairs)})
    for a, b in pairs:
        request(a, b, share, by=by, within=together)
    return together


def quote(comparison: Comparison) -> Quote:
    """Price a comparison that uses all of its pairs, to the cent."""
    human = human_of(comparison.task, TABLE)
    n_each = asked_at_most(comparison.strategy, comparison.n_workers)
    n_pairs = comparison.max_pairs
    return price(
        platform=str(human.get("platform", "selfhosted")),
        reward_cents=int(human["reward_cents"]),
        n_items=n_pairs,
        n_test_questions=n_tests_for(human, n_pairs),
        ratings_per_item=n_each,
        repost_share=float(human.get("repost_share", 0.1)),
        max_assignments=n_each,
    )


def n_tests_for(human: Mapping[str, Any], n_pairs: int) -> int:
    """Give how many test questions go with so many pairs."""
    shares = (float(human.get(f"{p}_share", 0.05)) for p in ("positive", "negative"))
    return round(sum(shares) * n_pairs)


def key_of(comparison_pk: int) -> str:
    """Name the comparison's campaign and the money set aside for it."""
    return f"comparison:{comparison_pk}"


@transaction.atomic
def approve(pk: int, *, by: Account, reason: str = "") -> Comparison:
    """Set the money aside and let the first wave go out; one approval counts."""
    found = decisions.locked_to_approve(Comparison, pk)
    qualification.check_platform_of(found.task, human_of(found.task, TABLE))
    cost = quote(found)
    fund.commit(
        key=key_of(pk), pool=found.task.slug, amount_cents=cost.total_cents, by=by
    )
    decisions.decide(found, State.APPROVED, by, reason, approved_cents=cost.total_cents)
    jobs.enqueue(JOB, pk=pk)
    return found


@transaction.atomic
def decline(pk: int, *, by: Account, reason: str) -> Comparison:
    """Say no, with the reason that who asked will read."""
    return decisions.decline(Comparison, pk, by=by, reason=reason)


@transaction.atomic
def stop(pk: int, *, by: Account, reason: str) -> Comparison:
    """End a comparison by hand: no more work, what was done stays paid."""
    found = decisions.stop(Comparison, pk, by=by, reason=reason)
    votes = votes_of(found)
    so_far = compare_end.result(found, State.STOPPED, votes)
    compare_end.write(found, State.STOPPED, so_far, votes)
    if found.evaluation is None:
        fund.release(key_of(pk))
        return found
    campaign = found.evaluation.campaign
    run.stop(campaign.pk, by=by, reason=reason)
    fund.settle(campaign.key, campaign_progress(campaign).spent_cents)
    return found


def retry(pk: int, *, by: Account, reason: str = "") -> Comparison:
    """Let a step that failed run again; nothing but that changes."""
    del by, reason  # the log of the admin keeps both
    again(Comparison, pk, job=JOB)
    return Comparison.objects.get(pk=pk)


def _check_pair(a: Submission, b: Submission) -> None:
    if a.pk == b.pk:
        raise GenieError(
            "Choose two different submissions.",
            code="same-submission",
        )
    if a.task_id != b.task_id:
        raise GenieError(
            "The submissions are for different tasks.", code="different-tasks"
        )
    for one in (a, b):
        if one.state not in ON_BOARD:
            raise GenieError(
                f"{one.system_name} is {one.get_state_display()}; its "
                "predictions must be validated and measured first.",
                code="not-comparable",
            )
    if a.simulated != b.simulated:
        raise GenieError(
            "One submission is rated by simulated annotators and the other by people.",
            code="not-comparable",
        )


def _check_question(task: Task, question: Question) -> None:
    known = criteria_of(task)
    odd = question.n_workers % 2 == 1
    wave = 1 if question.wave_size is None else question.wave_size
    problems = [
        (
            question.criterion not in known,
            f"{task.title} has the criteria {', '.join(known)}",
        ),
        (not 0 < question.delta < 1, "delta must lie between 0 and 1"),
        (question.rule not in RULES, f"the rules are {', '.join(RULES)}"),
        (
            question.strategy not in Strategy.values,
            f"the strategies are {', '.join(Strategy.values)}",
        ),
        (
            question.strategy == Strategy.MAJORITY
            and not (odd and 3 <= question.n_workers <= MOST_WORKERS),
            f"a majority needs an odd number of workers from 3 to {MOST_WORKERS}",
        ),
        (not 1 <= wave <= 1_000, "a wave has 1 to 1,000 pairs"),
        (
            not 1 <= question.max_pairs <= MOST_PAIRS,
            f"there are 1 to {MOST_PAIRS:,} pairs",
        ),
    ]
    for wrong, sentence in problems:
        if wrong:
            raise GenieError(
                f"This comparison is not possible: {sentence}.",
                code="unusable-question",
            )
