from __future__ import annotations

import gc

from django.apps import AppConfig


class GenieConfig(AppConfig):
    """Wiring only: the commands that run the whole house, and its periodic jobs."""

    name = "genie"

    def ready(self) -> None:
        from genie import checks  # noqa: F401  registers itself
        from genie.lib.queue import lifeline, pulse

        lifeline.hold_on()
        pulse.listen()
        # What is loaded by now stays: the collector need not look at it again.
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
