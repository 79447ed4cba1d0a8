"""Errors sent to Sentry, where a DSN is set: where they happened, and nothing of anybody.

What is sent is put together anew from a few harmless parts. The rest stays here: requests
with their addresses, cookies and bodies, values of variables, and the texts of errors and
log lines, which may quote what somebody wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from genie.lib.env import ConfigurationError
from genie.lib.queue import failures

_KEPT = ("event_id", "timestamp", "level", "platform", "logger", "release", "environment",
         "sdk", "transaction", "server_name", "type")  # fmt: skip
# Django's, which logs the texts of errors as if they stood in the code
_QUOTING = "django.security"
# of each line of a traceback
_PLACE = ("filename", "function", "module", "lineno", "in_app", "context_line")


def start(**more: Any) -> None:
    """Begin to send errors, if the site has a DSN.

    Raises
    ------
    ConfigurationError
        When the extra ``sentry`` is not installed.
    """
    if not settings.GENIE["SENTRY_DSN"]:
        return
    try:
        import sentry_sdk
        from sentry_sdk.integrations.atexit import AtexitIntegration
        from sentry_sdk.integrations.dedupe import DedupeIntegration
        from sentry_sdk.integrations.django import DjangoIntegration
        from sentry_sdk.integrations.logging import LoggingIntegration, ignore_logger
    except ImportError as error:
        raise ConfigurationError(
            "GENIE_SENTRY_DSN is set, and Sentry's library is not installed: "
            "pip install 'genie-leaderboards[sentry]'."
        ) from error
    sentry_sdk.init(
        dsn=settings.GENIE["SENTRY_DSN"],
        release=settings.VERSION,
        environment="production" if settings.PRODUCTION else "development",
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            DjangoIntegration(middleware_spans=False, signals_spans=False),
            LoggingIntegration(level=None),
            DedupeIntegration(),
            AtexitIntegration(callback=lambda *_: None),
        ],
        # `send_default_pii` is off unless asked for, and deprecated: not even named
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
        send_client_reports=False,
        before_send=_scrub,
        **more,
    )
    ignore_logger("django-q")  # says once more, without its place, what a job raised
    failures.tell(sentry_sdk.capture_exception)


def _scrub(event: Any, _: Any) -> Any:
    return scrubbed(event)


def scrubbed(event: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of an event what is nobody's: kinds of error and places in the code.

    Examples
    --------
    >>> error = {"type": "ValueError", "value": "Ada's text", "stacktrace": {"frames": [
    ...     {"function": "read", "lineno": 7, "vars": {"text": "Ada's"}}]}}
    >>> scrubbed({"level": "error", "user": {"id": 5}, "exception": {"values": [error]}})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'level': 'error', 'exception': {'values': [{'type': 'ValueError', 'module': None,
     'stacktrace': {'frames': [{'function': 'read', 'lineno': 7}]}}]}}
    """
    kept = {name: event[name] for name in _KEPT if name in event}
    if (event.get("transaction_info") or {}).get("source") == "url":
        # an address as it was asked for, where no page of ours has it
        kept.pop("transaction", None)
    is_safe = not str(event.get("logger", "")).startswith(_QUOTING)
    if (entry := event.get("logentry")) and is_safe:
        # as it stands in the code, without what was put into it
        kept["logentry"] = {"message": entry.get("message", "")}
    errors = (event.get("exception") or {}).get("values") or []
    if errors:
        kept["exception"] = {"values": [_error(error) for error in errors]}
    return kept


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    frames = (error.get("stacktrace") or {}).get("frames") or []
    places = [{k: frame[k] for k in _PLACE if k in frame} for frame in frames]
    kind = {"type": error.get("type"), "module": error.get("module")}
    return {**kind, "stacktrace": {"frames": places}}
