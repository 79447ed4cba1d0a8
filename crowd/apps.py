from __future__ import annotations

from django.apps import AppConfig


class CrowdConfig(AppConfig):
    name = "crowd"
