from __future__ import annotations

from django.apps import AppConfig


class QualityConfig(AppConfig):
    name = "quality"

    def ready(self) -> None:
        from crowd.campaigns.services import preference
        from quality.detection.services import next_hit

        preference.register("test questions", next_hit.choose)
