"""Whose token this is, what it may do, and for which teams."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.accounts.permissions import ScopeFits
from leaderboard.api.base import View, problems
from leaderboard.teams.models.team import Membership


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
