from django.apps import AppConfig

from genie.lib.late import late


class QualityConfig(AppConfig):
    name = "quality"

    def ready(self) -> None:
        from crowd.campaigns.services import reissue, undo
        from crowd.campaigns.services.claim import register_chooser

        name = "test questions"
        register_chooser(name, late("quality.detection.services.next_hit.choose"))
        reissue.register(name, late("quality.test_questions.services.test_hits"))
        undo.register(name, late("quality.test_questions.services.again"))
