from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from django.db import transaction

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.evaluation.models.comparison import Comparison, ComparisonSet
from leaderboard.evaluation.services.request import create_request
from leaderboard.stats.stopping.sequential import RULES, SignFlips
from leaderboard.stats.systems.estimates import Population
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import ON_BOARD
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import CLOSED

Strategy = Comparison.Strategy
RULE_OF_LABELS = "beta-mixture"
# Who answers about each pair: strategy, number of people, words.
STRATEGIES: dict[str, tuple[str, int, str]] = {
    "one-worker": (Strategy.ONE, 1, "One person for each pair"),
    "max-three": (Strategy.MAX_THREE, 1, "Two, and a third if they disagree"),
    "fixed-worker": (Strategy.FIXED, 1, "The same person for all pairs"),
    "majority-3": (Strategy.MAJORITY, 3, "The majority of three"),
    "majority-5": (Strategy.MAJORITY, 5, "The majority of five"),
    "majority-7": (Strategy.MAJORITY, 7, "The majority of seven"),
}
MOST_PAIRS = 20_000
MOST_WORKERS = 9
MOST_SYSTEMS = 12


@dataclass(frozen=True)
class Question:
    criterion: str
    delta: float = 0.05
    # empty: the task's
    rule: str = ""
    strategy: str = Strategy.ONE
    n_workers: int = 1
    wave_size: int | None = None
    max_pairs: int = 400


def criteria_of(task: Task) -> dict[str, str]:
    return dict(task.configuration.comparison.criteria)


def rule_in(task: Task, question: Question) -> str:
    """Return the question's rule or the task's, if it can read such labels.

    About these raters, labels are independent.
    """
    if question.rule:
        return question.rule
    rule, these = task.configuration.comparison.rule, Population.THESE
    labels = question.strategy != Strategy.ONE or task.human.population == these
    return RULE_OF_LABELS if labels and RULES[rule].over_workers else rule


@transaction.atomic
def request(
    a: Submission,
    b: Submission,
    question: Question,
    *,
    by: Account,
    within: ComparisonSet | None = None,
) -> Comparison:
    _check_pair(a, b)
    question = replace(question, rule=rule_in(a.task, question))
    _check_question(a.task, question)
    human = a.task.configuration.comparison
    comparison = create_request(
        [a, b],
        Comparison,
        by=by.pk,
        design=human.design,
        n_instances=question.max_pairs,
        page_by=human.page_by,
        criterion=question.criterion,
        a=a,
        b=b,
        within=within,
        delta=question.delta,
        rule=question.rule,
        strategy=question.strategy,
        n_workers=question.n_workers,
        wave_size=question.wave_size or human.wave_size,
        max_pairs=question.max_pairs,
    )
    comparison.seed = seed_for(
        "comparison", comparison.pk, a.pk, b.pk, question.criterion
    )
    comparison.save(update_fields=["seed"])
    return comparison


@transaction.atomic
def request_all_pairs(
    systems: Sequence[Submission], question: Question, *, by: Account
) -> ComparisonSet:
    """Compare all pairs of systems; the error of all decisions together is delta.

    Each pair gets an equal part of delta (Bonferroni). Decided pairs stop asking; the
    others continue.
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
    # The chance that any decision is wrong is at most the sum over the pairs.
    share = replace(question, delta=question.delta / len(pairs))
    for a, b in pairs:
        request(a, b, share, by=by, within=together)
    return together


def key_of(comparison_pk: int) -> str:
    """Return the name of the comparison's campaign and of its reserved money."""
    return f"comparison:{comparison_pk}"


def _check_pair(a: Submission, b: Submission) -> None:
    if a.pk == b.pk:
        raise GenieError("Choose two different submissions.", code="same-submission")
    if a.task_id != b.task_id:
        raise GenieError(
            "The submissions are for different tasks.", code="different-tasks"
        )
    for submission in (a, b):
        if submission.state not in ON_BOARD:
            raise GenieError(
                f"{submission.system_name} is {submission.get_state_display()}; its "
                "predictions must be validated and measured first.",
                code="not-comparable",
            )
    if a.task.imported:
        raise GenieError(CLOSED, code="not-comparable")
    if a.simulated != b.simulated:
        raise GenieError(
            "One submission is rated by simulated annotators and the other by people.",
            code="not-comparable",
        )


def _check_question(task: Task, question: Question) -> None:
    known = criteria_of(task)
    # An even number of votes may have no majority.
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
        (
            question.rule == SignFlips.name and question.strategy != Strategy.ONE,
            f"{SignFlips.name} reads one worker's answer for each pair; choose that or "
            "another rule",
        ),
    ]
    for wrong, sentence in problems:
        if wrong:
            raise GenieError(
                f"This comparison is not possible: {sentence}.",
                code="unusable-question",
            )
