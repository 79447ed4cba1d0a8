from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.core.checks import register
from django.db.models.signals import post_migrate

from genie.lib.late import late


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard.evaluation.services import public_log
        from leaderboard.judges.services import forget
        from leaderboard.monitoring import alarms
        from leaderboard.site.roles import make_groups
        from leaderboard.teams.services.notices import keep_language
        from quality.bans.selectors import register_detectors

        register(late("leaderboard.checks.settings_are_usable"))
        register(late("leaderboard.checks.task_folders_are_usable"))
        register(late("leaderboard.checks.extensions_are_usable"))
        user_logged_in.connect(keep_language, dispatch_uid="language of an account")
        register_detectors(late("leaderboard.tasks.selectors.detector_of"))
        public_log.register()
        alarms.register_all()
        forget.connect()
        post_migrate.connect(public_log.log_as_found, sender=self)
        post_migrate.connect(make_groups, dispatch_uid="groups of a new site")
