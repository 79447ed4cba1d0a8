"""Jobs: thin, with keys as arguments, safe to run twice."""

from crowd.requester.services import deliver as notifications
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.queue.pieces import Later
from leaderboard.boards.views import files
from leaderboard.evaluation import rescoring, run
from leaderboard.evaluation.services import public_log, refit
from leaderboard.judges.services import decide as judging
from leaderboard.judges.services import estimate as judged
from leaderboard.judges.services import license as licensing
from leaderboard.judges.services import work as judges_work
from leaderboard.metric_board.services import RUNNER, compute, refresh_all
from leaderboard.metric_board.views import downloads
from leaderboard.metric_runs import services
from leaderboard.releases import queued as releases
from leaderboard.sharing import views as sharing
from leaderboard.studio.services import bring, keep
from leaderboard.studio.services.start import join_study
from leaderboard.submissions.models import Submission
from leaderboard.submissions.services import lifecycle
from leaderboard.submissions.services import lifecycle as validating
from leaderboard.tasks.models import Task
from leaderboard.teams.services import announce as announcing
from leaderboard.teams.services import notices, webhooks

# Kinds of work, beside the steps of submissions and evaluations.
RUNNERS = [
    services.RUNNER,
    RUNNER,
    releases.RUNNER,
    judging.RUNNER,
    webhooks.RUNNER,
    notifications.RUNNER,
]


def validate(pk: int) -> None:
    runner = lifecycle.RUNNERS[Submission.State.RECEIVED]
    runner.run(pk, lambda _: validating.validate(pk))


def measure(pk: int) -> None:
    runner = lifecycle.RUNNERS[Submission.State.VALID]
    runner.run(pk, lambda _: services.run(pk))
    # also if an earlier attempt was killed in between
    join_study(pk)


def step_evaluation(pk: int) -> None:
    run.step(pk)


def measure_tests(pk: int) -> None:
    run.measure_tests(pk)


def rescore_task(task: int) -> None:
    rescoring.rescore(task)


def refit_board(pk: int) -> None:
    # a task can be deleted while its job waits
    if task := Task.objects.filter(pk=pk).first():
        try:
            refit.refit_board(task, hold=True, in_time=True)
        except Later:
            jobs.enqueue(run.REFIT_JOB, pk=pk)


def compare_scores() -> None:
    """Fail if a score differs from the public log, which alerts staff."""
    finding = public_log.compare_scores()
    if finding.points:
        raise GenieError(f"Run `genie doctor`: {finding.sentence}", code="scores")


def compare_public_scores() -> None:
    public_log.compare_public_scores()


def measure_piece(pk: int) -> None:
    services.compute(pk)


def catch_up_metrics(task: int = 0) -> None:
    if not task:
        services.catch_up_all()
    # a task can be deleted while its job waits
    elif chosen := Task.objects.filter(pk=task).first():
        services.catch_up(chosen)


def make_board_file(task: int, name: str, asked: str) -> None:
    if chosen := Task.objects.filter(pk=task).first():
        files.make(chosen, name, asked, {**downloads.MADE, **sharing.MADE})


def refresh_metric_boards() -> None:
    refresh_all()


def compute_metric_board(pk: int) -> None:
    compute(pk)


def judge(pk: int) -> None:
    judges_work.work(pk)


def estimate_with_judges() -> None:
    judged.estimate_all()


def license_judges() -> None:
    licensing.look_at_all()


def license_judge(pk: int) -> None:
    licensing.look(pk)


def make_release(pk: int) -> None:
    releases.work(pk)


def sweep_releases() -> None:
    releases.sweep_folders()


def forget_drafts() -> None:
    keep.forget_old()


def read_import(pk: int) -> None:
    bring.read_now(pk)


def bring_in(pk: int) -> None:
    bring.bring_in_now(pk)


def advance() -> None:
    run.advance(RUNNERS)


def announce() -> None:
    announcing.announce()


def send_notice(pk: int) -> None:
    notices.send(pk)


def deliver(pk: int) -> None:
    webhooks.deliver(pk)
