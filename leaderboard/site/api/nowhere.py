"""Addresses that the API does not have, refused in its own format."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import View


@extend_schema(exclude=True)
class Nowhere(View):
    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        # only as much as a refusal needs: neither throttled nor authenticated
        self.perform_content_negotiation(request, force=True)
        raise Http404

    def get(self, request: Request) -> Response:
        raise Http404
