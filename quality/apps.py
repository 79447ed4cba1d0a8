from __future__ import annotations

from django.apps import AppConfig


class QualityConfig(AppConfig):
    name = "quality"
