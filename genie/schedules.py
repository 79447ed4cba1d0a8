"""The table of periodic jobs."""

from genie.lib.jobs import Periodic

SCHEDULES = [
    Periodic("advance submissions", "leaderboard.jobs.advance", minutes=1),
    Periodic("announce what happened", "leaderboard.jobs.announce", minutes=1),
    Periodic("number the public log", "genie.history.log.number", minutes=1),
    Periodic(
        "compare scores with the log", "leaderboard.jobs.compare_scores", minutes=1440
    ),
    Periodic("catch metrics up", "leaderboard.jobs.catch_up_metrics", minutes=2),
    Periodic(
        "refresh metric boards", "leaderboard.jobs.refresh_metric_boards", minutes=2
    ),
    Periodic(
        "estimate with judges", "leaderboard.jobs.estimate_with_judges", minutes=1
    ),
    Periodic("license judges", "leaderboard.jobs.license_judges", minutes=2),
    Periodic("sweep files of releases", "leaderboard.jobs.sweep_releases", minutes=10),
    Periodic("release overdue assignments", "crowd.jobs.release_overdue", minutes=1),
    Periodic("approve waiting work", "crowd.jobs.approve_waiting", minutes=10),
    Periodic("tell of new work", "crowd.jobs.look_for_news", minutes=30),
    Periodic("count how work goes", "quality.jobs.renew_work_records", minutes=15),
    Periodic("look at other platforms", "crowd.jobs.sync_platforms", minutes=1),
    Periodic("plan payouts", "crowd.jobs.plan_payouts", minutes=60),
    Periodic("forget old notices", "crowd.jobs.forget_notices", minutes=1440),
    Periodic(
        "forget old data of people", "genie.lib.retention.forget_old", minutes=1440
    ),
    Periodic(
        "settle requesters' work",
        "crowd.requester.services.settle.settle_all",
        minutes=1,
    ),
    Periodic("tell of trouble", "genie.upkeep.alerts.look", minutes=5),
    Periodic("forget old drafts", "leaderboard.jobs.forget_drafts", minutes=1440),
    Periodic(
        "forget sessions that are over",
        "genie.accounts.devices.forget_ended",
        minutes=1440,
    ),
    Periodic("forget old failures", "genie.lib.jobs.forget_old", minutes=1440),
]
