from __future__ import annotations

from django.apps import AppConfig


class GenieConfig(AppConfig):
    """Wiring only: the commands that run the whole house, and its periodic jobs."""

    name = "genie"

    def ready(self) -> None:
        from genie import checks  # noqa: F401  registers itself
        from genie.lib.queue import lifeline, pulse

        lifeline.hold_on()
        pulse.listen()
