from __future__ import annotations

from django.apps import AppConfig


class QualityConfig(AppConfig):
    name = "quality"

    def ready(self) -> None:
        from crowd.campaigns.services import preference, reissue, undo
        from quality.detection.services import next_hit
        from quality.test_questions.services import grade, leftovers

        preference.register("test questions", next_hit.choose)
        reissue.register("test questions", leftovers.test_hits)
        undo.register("test questions", grade.again)
