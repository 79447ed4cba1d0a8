from typing import Any, cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.authentication import ScopeFits
from genie.accounts.models import AccessToken
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, ListView, View, operation
from leaderboard.api.query import Body, PageQuery
from leaderboard.api.records import Record, html_url
from leaderboard.submissions.models import Team
from leaderboard.teams.models import Membership, Webhook, WebhookDelivery
from leaderboard.teams.services import webhooks as service


# One's teams, and who is in them; for members.
class OwnTeamSerializer(serializers.ModelSerializer[Membership]):
    """A team of the token's owner, by their membership."""

    slug = serializers.CharField(source="team.slug")
    name = serializers.CharField(source="team.name")
    html_url = serializers.SerializerMethodField(help_text="The team's page.")

    class Meta:
        model = Membership
        fields = ["slug", "name", "role", "html_url"]
        read_only_fields = fields

    def get_html_url(self, membership: Membership) -> str:
        return html_url(self.context["request"], "team", membership.team.slug)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    username = serializers.CharField(source="user.username")

    class Meta:
        model = Membership
        fields = ["username", "role", "joined_at"]
        read_only_fields = fields


class TeamDetailSerializer(OwnTeamSerializer):
    members = MemberSerializer(source="team.memberships", many=True, read_only=True)

    class Meta(OwnTeamSerializer.Meta):
        fields = [*OwnTeamSerializer.Meta.fields, "members"]
        read_only_fields = fields


class MemberView(View):
    tag = "account"
    permission_classes = [IsAuthenticated, ScopeFits]
    serializer_class: Any = OwnTeamSerializer
    lookup_field = "team__slug"
    lookup_url_kwarg = "slug"

    def get_queryset(self) -> QuerySet[Membership]:
        rows = Membership.objects.filter(user=self.request.user.pk)
        return rows.select_related("team").order_by("team__slug")


@operation("List your teams")
class TeamList(MemberView, ListView):
    query_class = PageQuery


@operation(
    "Show one of your teams with its members",
    "Other teams return 404, whether they exist or not.",
)
class TeamDetail(MemberView, DetailView):
    serializer_class = TeamDetailSerializer

    def get_queryset(self) -> QuerySet[Membership]:
        return super().get_queryset().prefetch_related("team__memberships__user")


class NewWebhookSerializer(Body):
    url = serializers.CharField(
        max_length=500, help_text="URL to which events are sent by POST."
    )


class WebhookSerializer(Record):
    record = Webhook
    shown = "id url active created_at"


# Only the answer to the creation has the secret, never a list.
class WebhookWithSecretSerializer(WebhookSerializer):
    secret = serializers.CharField(help_text="Secret that signs deliveries.")


class DeliverySerializer(Record):
    record = WebhookDelivery
    shown = (
        "event=uuid type=kind state n_attempts next_at last_status last_error=failure "
        "created_at delivered_at"
    )
    help_texts = {"event": "Same for every attempt."}


class OwnerView(View):
    """A view below a team; for who does not own it, it does not exist."""

    tag = "webhooks"
    permission_classes = [IsAuthenticated, ScopeFits]
    queryset: Any = Webhook.objects.order_by("pk")
    serializer_class: Any = WebhookSerializer

    def team(self) -> Team:
        owned = Membership.objects.filter(
            user=self.request.user.pk, role=Membership.Role.OWNER
        )
        membership = get_object_or_404(
            owned.select_related("team"), team__slug=self.kwargs["slug"]
        )
        return membership.team

    def get_queryset(self) -> QuerySet[Any]:
        return super().get_queryset().filter(team=self.team())


@operation("List a team's webhooks", operation_id="webhooks_list")
class WebhookList(OwnerView, ListView):
    query_class = PageQuery
    body_class = NewWebhookSerializer

    @operation(
        "Add a webhook; the response contains its signing secret",
        "",
        *("bad-address", "too-many-webhooks", "webhook-exists"),
        operation_id="webhooks_create",
        responses={201: WebhookWithSecretSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        team, by = self.team(), cast("Account", request.user)
        webhook = service.add(team, self.body()["url"], by=by)
        return Response(
            WebhookWithSecretSerializer(webhook).data, status=status.HTTP_201_CREATED
        )


class WebhookDetail(OwnerView):
    @operation("Remove a webhook and its delivery log", operation_id="webhooks_destroy")
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        self.get_object().delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


@operation(
    "List a webhook's deliveries and their results, newest first",
    operation_id="webhooks_deliveries_list",
)
class DeliveryList(OwnerView, ListView):
    serializer_class = DeliverySerializer
    query_class = PageQuery

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        webhook: Webhook = get_object_or_404(
            super().get_queryset(), pk=self.kwargs["pk"]
        )
        return webhook.deliveries.order_by("-pk")


# Whose token this is, what it may do, and for which teams.
class TokenSerializer(Record):
    record = AccessToken
    shown = "name scopes expires_at"
    scopes = serializers.ListField(child=serializers.CharField())


class MembershipSerializer(Record):
    record = Membership
    shown = "slug=team.slug name=team.name role"


class WhoAmISerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    teams = MembershipSerializer(many=True)
    token = TokenSerializer(
        allow_null=True, help_text="Null when signed in by session."
    )


@operation("Show the token's owner, scopes and teams", operation_id="whoami")
class WhoAmI(DetailView):
    tag = "account"
    permission_classes = [IsAuthenticated, ScopeFits]
    serializer_class = WhoAmISerializer

    def get_object(self) -> dict[str, Any]:
        user, token = self.request.user, self.request.auth
        teams = Membership.objects.filter(user=user.pk).select_related("team")
        return {
            "username": user.get_username(),
            "teams": teams.order_by("team"),
            "token": token if isinstance(token, AccessToken) else None,
        }
