"""Failed jobs keep the queue's own pages; their retry goes through our door."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest

from genie.lib.jobs import retry_failure

Failure = apps.get_model("django_q", "Failure")


@admin.action(description="Run the selected jobs again", permissions=["change"])
def retry_selected(model_admin: Any, request: HttpRequest, queryset: Any) -> None:
    """Queue each again with the keys that it had."""
    n = 0
    for failure in queryset:
        try:
            with transaction.atomic():
                model_admin.log_change(
                    request, failure, f"{failure.func} queued again."
                )
                retry_failure(failure.pk)
        except TypeError as error:  # it was not queued by our rules
            model_admin.message_user(request, str(error), messages.ERROR)
        else:
            n += 1
    if n:
        model_admin.message_user(request, f"Jobs queued again: {n}.", messages.SUCCESS)


# The queue's own action would hand over whatever arguments the failed job had, past
# the rule that jobs take keys only.
_own: Any = admin.site.get_model_admin(Failure)
_own.actions = [retry_selected]
_own.list_display = ["func", "kwargs", "attempt_count", "stopped", "short_result"]
_own.ordering = ["-stopped"]
