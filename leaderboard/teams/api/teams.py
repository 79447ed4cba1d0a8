"""One's teams, and who is in them; for members."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.permissions import ScopeFits
from leaderboard.api.base import View, problems
from leaderboard.api.links import html_url
from leaderboard.api.query import PageQuery
from leaderboard.teams.models.team import Membership


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
