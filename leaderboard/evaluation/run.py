"""The steps of evaluations: what comes next, so that none gets stuck."""

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Max, Q
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.hits.models import Campaign, Rating
from genie.lib import jobs
from genie.lib.runner import Runner
from genie.lib.seeds import generator, seed_from
from genie.lib.serving.caches import computed
from leaderboard.evaluation import machine, rescoring
from leaderboard.evaluation.campaigns import asks_again
from leaderboard.evaluation.models.human_evaluation import (
    EvaluationCampaign,
    HumanEvaluation,
)
from leaderboard.evaluation.selectors.unsettled import with_lost_ratings
from leaderboard.evaluation.services import refit
from leaderboard.evaluation.strategies import measured_tests, strategy_of
from leaderboard.submissions import states
from leaderboard.submissions.selectors import awaits_publication, is_published
from leaderboard.submissions.services import lifecycle

State = states.State
REFIT_JOB = "leaderboard.jobs.refit_board"
# How many evaluations are checked each minute without a new answer: other events, such
# as decisions of staff, may wait for some minutes if there are many.
LOOKS = 100
_SEEN = "answers-looked-at"


def step(pk: int) -> None:
    evaluation = machine.read(pk)
    if evaluation is None or evaluation.state not in states.STEPS:
        return
    service = getattr(strategy_of(evaluation), states.STEPS[evaluation.state])
    machine.RUNNERS[evaluation.state].run(pk, lambda _: service(evaluation))


def measure_tests(pk: int) -> None:
    """Measure test questions; a failure is stored with the evaluation for a retry."""
    measured_tests.RUNNER.run(
        pk, lambda _: measured_tests.measure_tests(machine.rows().get(pk=pk).specific)
    )


def advance(more: Iterable[Runner] = ()) -> int:
    """Queue all work that is due and not in the queue; return how many jobs."""
    run.start_due()
    n_rescored = rescoring.enqueue_due()
    due = [
        (runner.job, {"pk": pk})
        for runner in (*lifecycle.RUNNERS.values(), *more)
        for pk in runner.due()
    ]
    due += [(machine.JOB, {"pk": pk}) for pk in _waiting_evaluations()]
    due += [(REFIT_JOB, {"pk": pk}) for pk in refit.due()]
    due += [(measured_tests.RUNNER.job, {"pk": pk}) for pk in measured_tests.due()]
    return n_rescored + jobs.enqueue_missing(due)


def _worth_a_look(pks: list[int]) -> list[int]:
    """Return evaluations with new answers and some of the others; all if they are few.

    New answers are those since this process's last look but one, because a transaction
    may commit later than one that began after it.
    """
    if len(pks) <= LOOKS:
        return pks
    newest = Rating.objects.aggregate(pk=Max("pk"))["pk"] or 0
    before, last = computed.get(_SEEN, (None, None))
    computed.set(_SEEN, (last, newest), timedelta(days=1).total_seconds())
    if before is None:
        return pks
    answered = Rating.objects.filter(pk__gt=before).order_by().values("item__campaign")
    rows = EvaluationCampaign.objects.filter(campaign__in=answered, evaluation__in=pks)
    new = set(rows.values_list("evaluation", flat=True))
    still = [pk for pk in pks if pk not in new]
    drawn = generator(seed_from("looks", newest, str(timezone.now()))).permutation(
        still
    )
    return sorted({*new, *drawn[:LOOKS].tolist()})


def _waiting_evaluations() -> list[int]:
    """Return evaluations with a step to take; the costly check comes last."""
    # Permanent failures wait for staff.
    able = HumanEvaluation.objects.filter(failure_permanent=False).order_by("pk")
    campaigns = Campaign.objects.filter(asks_again()).values("pk")
    dropped = able.filter(
        Q(state__in=[State.APPROVED, State.ANNOTATED])
        | awaits_publication("submissions__")
    )
    asking_again = able.filter(
        is_published("submissions__"),
        state=State.SCORED,
        campaigns__campaign__in=campaigns,
    )
    lost = able.filter(
        is_published("submissions__"),
        # imported ratings cannot be collected again
        imported=None,
        pk__in=with_lost_ratings(),
    )
    settling = able.filter(pk__in=rescoring.provisional())
    at_work = able.filter(state=State.ANNOTATING).values_list("pk", flat=True)
    # A dict keeps the order and drops repeats.
    pks: dict[int, None] = {}
    for evaluations in (dropped, lost, asking_again, settling):
        pks |= dict.fromkeys(evaluations.values_list("pk", flat=True))
    return list(pks | dict.fromkeys(_worth_a_look(list(at_work))))
