from typing import Any, cast

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.accounts.permissions import ScopeFits
from genie.lib.typing import Account
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.api.links import html_url
from leaderboard.api.query import PageQuery
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
    permission_classes = [IsAuthenticated, ScopeFits]
    queryset = Membership.objects.none()

    def own(self) -> QuerySet[Membership]:
        rows = Membership.objects.filter(user=self.request.user.pk)
        return rows.select_related("team").order_by("team__slug")


class TeamList(MemberView):
    serializer_class = OwnTeamSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["account"],
        operation_id="teams_list",
        summary="List your teams",
        responses={
            200: OwnTeamSerializer(many=True),
            **problems("not-authenticated", "permission-denied", "not-found"),
        },
    )
    def get(self, request: Request) -> Response:
        page: Any = self.paginate_queryset(self.own())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class TeamDetail(MemberView):
    serializer_class = TeamDetailSerializer

    @extend_schema(
        tags=["account"],
        operation_id="teams_retrieve",
        summary="Show a team of yours with its members",
        description="Other teams return 404, whether they exist or not.",
        responses={
            200: TeamDetailSerializer,
            **problems("not-authenticated", "permission-denied", "not-found"),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = self.own().prefetch_related("team__memberships__user")
        membership = rows.filter(team__slug=slug).first()
        if membership is None:
            raise Http404
        return Response(self.get_serializer(membership).data)


class NewWebhookSerializer(Body):
    url = serializers.CharField(
        max_length=500, help_text="URL that events are sent to, by POST."
    )


class WebhookSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    url = serializers.CharField()
    active = serializers.BooleanField()
    created_at = serializers.DateTimeField()


# Only the answer to the creation has the secret, never a list.
class WebhookWithSecretSerializer(WebhookSerializer):
    secret = serializers.CharField(help_text="Secret with which deliveries are signed.")


class DeliverySerializer(serializers.Serializer[Any]):
    event = serializers.UUIDField(
        source="uuid", help_text="The same for every attempt."
    )
    type = serializers.CharField(source="kind")
    state = serializers.ChoiceField(choices=WebhookDelivery.State.choices)
    n_attempts = serializers.IntegerField()
    next_at = serializers.DateTimeField()
    last_status = serializers.IntegerField(allow_null=True)
    last_error = serializers.CharField(source="failure")
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)


_REFUSALS = ("not-authenticated", "permission-denied", "not-found")


class OwnerView(View):
    """A view below a team; for who does not own it, it does not exist."""

    permission_classes = [IsAuthenticated, ScopeFits]
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    queryset: Any = Webhook.objects.none()

    def team(self) -> Team:
        owned = Membership.objects.filter(
            user=self.request.user.pk,
            role=Membership.Role.OWNER,
            team__slug=self.kwargs["slug"],
        )
        membership = owned.select_related("team").first()
        if membership is None:
            raise Http404
        return membership.team

    def webhook(self) -> Webhook:
        webhook = self.team().webhooks.filter(pk=self.kwargs["pk"]).first()
        if webhook is None:
            raise Http404
        return webhook


class WebhookList(OwnerView):
    serializer_class = WebhookSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["webhooks"],
        operation_id="webhooks_list",
        summary="List a team's webhooks",
        responses={
            200: WebhookSerializer(many=True),
            **problems(*_REFUSALS),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        page: Any = self.paginate_queryset(self.team().webhooks.order_by("pk"))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        tags=["webhooks"],
        operation_id="webhooks_create",
        summary="Add a webhook; the response contains its signing secret",
        request=NewWebhookSerializer,
        responses={
            201: OpenApiResponse(WebhookWithSecretSerializer),
            **problems(
                *_REFUSALS,
                "invalid",
                "bad-request",
                "request-too-large",
                "unsupported-media-type",
                "bad-address",
                "too-many-webhooks",
                "webhook-exists",
            ),
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        team = self.team()
        serializer = NewWebhookSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        by = cast("Account", request.user)
        webhook = service.add(team, serializer.validated_data["url"], by=by)
        return Response(
            WebhookWithSecretSerializer(webhook).data, status=status.HTTP_201_CREATED
        )


class WebhookDetail(OwnerView):
    serializer_class = WebhookSerializer

    @extend_schema(
        tags=["webhooks"],
        operation_id="webhooks_destroy",
        summary="Remove a webhook and its delivery log",
        responses={204: None, **problems(*_REFUSALS)},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        self.webhook().delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class DeliveryList(OwnerView):
    serializer_class = DeliverySerializer
    query_class = PageQuery
    queryset = WebhookDelivery.objects.none()

    @extend_schema(
        tags=["webhooks"],
        operation_id="webhooks_deliveries_list",
        summary="List a webhook's deliveries and their results, newest first",
        responses={
            200: DeliverySerializer(many=True),
            **problems(*_REFUSALS),
        },
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        page: Any = self.paginate_queryset(self.webhook().deliveries.order_by("-pk"))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


# Whose token this is, what it may do, and for which teams.
class TokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    expires_at = serializers.DateTimeField(allow_null=True)


class MembershipSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(source="team.slug")
    name = serializers.CharField(source="team.name")
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class WhoAmISerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    teams = MembershipSerializer(many=True)
    token = TokenSerializer(
        allow_null=True, help_text="Null when signed in by session."
    )


class WhoAmI(View):
    permission_classes = [IsAuthenticated, ScopeFits]
    serializer_class = WhoAmISerializer

    @extend_schema(
        tags=["account"],
        operation_id="whoami",
        summary="Show the token's owner, scopes and teams",
        responses={
            200: WhoAmISerializer,
            **problems("not-authenticated", "permission-denied"),
        },
    )
    def get(self, request: Request) -> Response:
        teams = Membership.objects.filter(user=request.user.pk).select_related("team")
        account = {
            "username": request.user.get_username(),
            "teams": teams.order_by("team"),
            "token": request.auth if isinstance(request.auth, AccessToken) else None,
        }
        return Response(WhoAmISerializer(account).data)
