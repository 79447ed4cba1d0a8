"""The queue in the admin: read-only rows; failed jobs are retried or deleted."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest

from genie.lib.admin import DELETE, AsksWhy, ReadOnlyAdmin, arguments
from genie.lib.errors import GenieError
from genie.lib.jobs import retry_failure
from genie.lib.staff_actions import Action

Failure, Success, Schedule, OrmQ = (
    apps.get_model("django_q", name)
    for name in ("Failure", "Success", "Schedule", "OrmQ")
)


def _retry(failure: Any, by: object, reason: str) -> None:
    try:
        retry_failure(failure.pk)
    except TypeError as error:  # it was not queued by our rules
        raise GenieError(str(error)) from error


RETRY = Action(
    "retry_selected",
    "Run the selected jobs again …",
    title="Run jobs again",
    sentence="Each job is queued again with the same arguments.",
    button="Queue them",
    service=_retry,
    history="{row.func} queued again. Reason: {reason}",
    done="Jobs queued again: {n}.",
)
_TOLD = ["name", "func", "given", "started", "stopped"]


@admin.display(description="arguments")
def job_arguments(model_admin: Any, job: Any) -> str:
    return arguments(job.kwargs if isinstance(job.kwargs, dict) else {})


# The queue's own actions would pass any arguments on, against the rule that jobs take
# keys only; its own pages let rows be changed without a reason.
for _model in (Failure, Success, Schedule, OrmQ):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)


@admin.register(Failure)
class FailureAdmin(AsksWhy):
    list_display = ["func", "given", "attempt_count", "stopped", "short_result"]
    fields = [*_TOLD, "attempt_count", "result"]
    readonly_fields = ["given"]
    given = job_arguments
    list_filter = ["func"]
    # not its error: that is stored as bytes, which cannot be searched
    search_fields = ["func"]
    ordering = ["-stopped"]
    actions = [RETRY, DELETE]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="error")
    def short_result(self, failure: Any) -> str:
        return str(failure.result)[:200]


@admin.register(Success)
class SuccessAdmin(ReadOnlyAdmin):
    list_display = ["func", "given", "started", "stopped"]
    fields = [*_TOLD, "attempt_count"]
    readonly_fields = ["given"]
    given = job_arguments
    list_filter = ["func"]
    search_fields = ["func"]
    ordering = ["-stopped"]


@admin.register(Schedule)
class ScheduleAdmin(ReadOnlyAdmin):
    """Schedules are set by the program at each start (`genie/schedules.py`)."""

    list_display = ["name", "func", "schedule_type", "minutes", "next_run"]
    search_fields = ["name", "func"]


@admin.register(OrmQ)
class WaitingAdmin(ReadOnlyAdmin):
    list_display = ["pk", "name", "func", "lock"]
    fields = ["name", "func", "given", "lock"]
    readonly_fields = ["given"]
    given = job_arguments
    ordering = ["pk"]
