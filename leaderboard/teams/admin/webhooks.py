"""Deliveries to teams' webhooks, for questions about missing ones."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from genie.lib.admin.questions import after_asking
from genie.lib.admin.read_only import ReadOnlyAdmin
from leaderboard.teams.models.webhook import WebhookDelivery

State = WebhookDelivery.State


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ["kind", "team", "webhook", "state", "n_attempts", "last_status", "last_error", "created_at", "next_at"]  # fmt: skip
    list_filter = ["state", "kind", "created_at"]
    list_select_related = ["webhook__team"]
    search_fields = ["uuid", "webhook__url", "webhook__team__name"]
    actions = ["send_again"]

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leaderboard.change_webhookdelivery")

    @admin.display(description="team", ordering="webhook__team__name")
    def team(self, delivery: WebhookDelivery) -> str:
        return delivery.webhook.team.name

    @admin.action(
        description="Send the selected failed deliveries again …", permissions=["send"]
    )
    @after_asking(
        "Send again", "Failed deliveries are sent again with the same id.", "Send them"
    )
    def send_again(
        self, request: HttpRequest, queryset: QuerySet[WebhookDelivery], reason: str
    ) -> None:
        failed = list(queryset.filter(state=State.FAILED).order_by("pk"))
        WebhookDelivery.objects.filter(
            # the state again: another process may have sent it since the list was read
            pk__in=[delivery.pk for delivery in failed],
            state=State.FAILED,
        ).update(state=State.WAITING, n_attempts=0, next_at=timezone.now())
        for delivery in failed:
            self.log_change(request, delivery, f"Sent again. Reason: {reason}")
        level = messages.SUCCESS if failed else messages.WARNING
        self.message_user(request, f"{len(failed)} will be sent again.", level)
