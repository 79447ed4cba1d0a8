"""The queue in the admin: read-only rows; failed jobs are retried or deleted."""

from typing import Any

from django.apps import apps
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest

from genie.lib.admin import AsksWhy, after_asking, arguments
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
from genie.lib.jobs import retry_failure

Failure, Success, Schedule, OrmQ = (
    apps.get_model("django_q", name)
    for name in ("Failure", "Success", "Schedule", "OrmQ")
)


@admin.action(description="Run the selected jobs again …", permissions=["act"])
@after_asking(
    "Run jobs again", "Each job is queued again with the same arguments.", "Queue them"
)
def retry_selected(
    model_admin: Any, request: HttpRequest, queryset: Any, reason: str
) -> None:
    n = 0
    for failure in queryset:
        try:
            # log and job together: neither a job without a reason nor a reason without
            # a job
            with transaction.atomic():
                message = f"{failure.func} queued again. Reason: {reason}"
                model_admin.log_change(request, failure, message)
                retry_failure(failure.pk)
        except TypeError as error:  # it was not queued by our rules
            model_admin.message_user(request, str(error), messages.ERROR)
        else:
            n += 1
    if n:
        model_admin.message_user(request, f"Jobs queued again: {n}.", messages.SUCCESS)


_TOLD = ["name", "func", "given", "started", "stopped"]


@admin.display(description="arguments")
def given(model_admin: Any, job: Any) -> str:
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
    given = given
    list_filter = ["func"]
    # not its error: that is stored as bytes, which cannot be searched
    search_fields = ["func"]
    ordering = ["-stopped"]
    actions = [retry_selected, "delete_with_reason"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("django_q.change_failure")

    @admin.display(description="error")
    def short_result(self, failure: Any) -> str:
        return str(failure.result)[:200]


@admin.register(Success)
class SuccessAdmin(ReadOnlyAdmin):
    list_display = ["func", "given", "started", "stopped"]
    fields = [*_TOLD, "attempt_count"]
    readonly_fields = ["given"]
    given = given
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
    given = given
    ordering = ["pk"]
