"""Where log lines go; it imports nothing, as the settings are made with it."""

from __future__ import annotations

from typing import Any


def to_console(level: str) -> dict[str, Any]:
    """Configure one safe line for each record on standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "genie.lib.logs.OneLineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            }
        },
        "filters": {"short": {"()": "genie.lib.logs.ShortTrouble"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["short"],
            }
        },
        # One line for each job that comes and goes tells nobody anything.
        "loggers": {"django-q": {"level": "WARNING"}},
        "root": {"handlers": ["console"], "level": level},
    }
