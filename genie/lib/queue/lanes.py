"""The lanes of jobs: long ones do not hold up those that people wait for.

A lane is one of django-q2's clusters. Jobs that are not listed here go to the first
lane, `now`. An external queue has a single lane.
"""

from django.conf import settings

_JOBS = {
    "money": """
        crowd.jobs.approve_waiting crowd.jobs.confirm_subscription
        crowd.jobs.look_for_news crowd.jobs.mail_message crowd.jobs.plan_payouts
        crowd.jobs.release_overdue crowd.jobs.send_invitation crowd.jobs.sync_campaign
        crowd.jobs.sync_platforms crowd.jobs.tell_of_work
        crowd.requester.services.settle.settle_all leaderboard.jobs.send_notice
    """,
    "long": """
        leaderboard.jobs.bring_in leaderboard.jobs.catch_up_metrics
        leaderboard.jobs.compute_metric_board leaderboard.jobs.estimate_with_judges
        leaderboard.jobs.judge leaderboard.jobs.license_judge
        leaderboard.jobs.make_release leaderboard.jobs.measure
        leaderboard.jobs.measure_piece leaderboard.jobs.measure_tests
        leaderboard.jobs.read_import leaderboard.jobs.refit_board
        leaderboard.jobs.refresh_metric_boards leaderboard.jobs.rescore_task
        leaderboard.jobs.sweep_releases
    """,
}
LANES = {job: lane for lane, jobs in _JOBS.items() for job in jobs.split()}


def names() -> list[str]:
    cluster = settings.Q_CLUSTER
    return [cluster["name"], *cluster.get("ALT_CLUSTERS", {})]


def lane_of(job: str) -> str:
    lane = LANES.get(job, "")
    first, *others = names()
    return lane if lane in others else first
