"""Play everybody but the queue: submit, approve, answer; then print what is there."""

import json
import sys
import time

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402

from crowd.models import HIT, Assignment, Campaign, Commitment, LedgerEntry, Rating  # noqa: E402
from leaderboard import demo  # noqa: E402
from leaderboard.demo import Opinions, file_of, systems_of  # noqa: E402
from leaderboard.evaluation import decide  # noqa: E402
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation  # noqa: E402
from leaderboard.evaluation.services.request import join  # noqa: E402
from leaderboard.evaluation.services.simulate import Crowd  # noqa: E402
from leaderboard.metric_runs.selectors import chosen_of  # noqa: E402
from leaderboard.models import MetricResult, Prediction, Score, Submission  # noqa: E402
from leaderboard.submissions.services import submit  # noqa: E402
from leaderboard.tasks.services import load  # noqa: E402
from quality.bans.services import confirm  # noqa: E402
from quality.models import Grade, HeldExclusion, TestQuestion  # noqa: E402

SLUG = "demo-qa"


def wait_for(pk: int, state: str, seconds: float = 400, between=lambda: None) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        between()
        if Submission.objects.get(pk=pk).state == state:
            return
        time.sleep(0.3)
    found = Submission.objects.get(pk=pk)
    sys.exit(f"submission is {found.state}, not {state}: {found.work.failure}")


def wait_for_metrics(study: list[Submission], seconds: float = 400) -> None:
    """Heavy metrics follow in the background, if need be after the board."""
    wanted = {choice.slug for choice in chosen_of(study[0].task) if not choice.absent}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if MetricResult.objects.count() >= len(wanted) * len(study):
            return
        time.sleep(0.3)
    sys.exit(f"only {MetricResult.objects.count()} results of {sorted(wanted)}")


def main() -> None:
    call_command("migrate", verbosity=0)
    task = load.load_task(SLUG).task
    owner = get_user_model().objects.create_user("owner")
    admin = get_user_model().objects.create_superuser("boss")
    names = [system["name"] for system in systems_of(SLUG)[:3]]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    study = [handed_in(task, owner, name) for name in names]
    for one in study:
        wait_for(one.pk, "MEASURED")
    join(study)
    asked = HumanEvaluation.objects.get()
    decide.approve(asked, by=admin, start_now=True)
    first = study[0].pk
    wait_for(first, "ANNOTATING")
    crowd = Crowd(demo.players([SLUG]), quality=Opinions([SLUG]), seed=1)

    def work_and_decide():
        crowd.work()
        for held in HeldExclusion.objects.filter(state="PROPOSED"):
            confirm(held.pk, by=admin, reason="The scores wait for it.")

    wait_for(first, "PUBLISHED", between=work_and_decide)
    wait_for_metrics(study)
    sys.stdout.write(json.dumps(facts(asked)))


def handed_in(task, owner, name: str) -> Submission:
    with file_of(SLUG, name).open("rb") as file:
        return submit.receive(
            task=task,
            owner=owner,
            team=submit.team_for(owner),
            system_name=name,
            file=file,
            file_name="predictions.json",
            simulated=True,
        )


def facts(asked: HumanEvaluation) -> dict:
    rewards = LedgerEntry.objects.filter(kind="REWARD")
    current = Score.objects.filter(superseded_at=None)
    systems = Submission.objects.order_by("pk")
    return {
        "predictions": Prediction.objects.count(),
        "metrics": MetricResult.objects.count(),
        "metric_names": MetricResult.objects.values("metric").distinct().count(),
        "campaigns": Campaign.objects.count(),
        "commitments": Commitment.objects.count(),
        "committed": sum(Commitment.objects.values_list("amount_cents", flat=True)),
        "spent": sum(LedgerEntry.objects.values_list("amount_cents", flat=True)),
        "evaluations": HumanEvaluation.objects.count(),
        "hits": HIT.objects.count(),
        "places": sum(HIT.objects.values_list("max_assignments", flat=True)),
        "judged": asked.subjects.count(),
        "tests": TestQuestion.objects.count(),
        "submitted": Assignment.objects.exclude(state="ACCEPTED").count(),
        "replaced": Assignment.objects.exclude(replaced_at=None).count(),
        "answers": Rating.objects.count(),
        "grades": Grade.objects.count(),
        "rewards": rewards.count(),
        "rewarded_assignments": rewards.values("assignment").distinct().count(),
        "scores": current.count(),
        "n": sum(current.values_list("n", flat=True)),
        "states": [[event.state for event in one.events.all()] for one in systems],
    }


if __name__ == "__main__":
    main()
