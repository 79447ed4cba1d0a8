"""The logging configuration; it imports very little, because the settings use it."""

from typing import Any

from genie.lib.env import ConfigurationError

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def to_console(level: str, form: str = "") -> dict[str, Any]:
    """Configure one safe line per record on standard error: text, or JSON."""
    if form not in {"", "text", "json"}:
        raise ConfigurationError("GENIE_LOG_FORMAT must be text or json.")
    if level not in _LEVELS:
        raise ConfigurationError(
            f"GENIE_LOG_LEVEL must be one of {', '.join(_LEVELS)}."
        )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": "genie.lib.logs.OneLineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            },
            "json": {"()": "genie.lib.logs.JsonFormatter"},
        },
        "filters": {"short": {"()": "genie.lib.logs.ShortTrouble"}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "json" if form == "json" else "line",
                "filters": ["short"],
            }
        },
        # They log a line for each job and each text.
        "loggers": {name: {"level": "WARNING"} for name in ("django-q", "absl")},
        "root": {"handlers": ["console"], "level": level},
    }
