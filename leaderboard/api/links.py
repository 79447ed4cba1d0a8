from typing import Any

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

HTML_URL_HELP = "The page of it, for people."


def html_url(request: Request | None, name: str, value: Any) -> str:
    path = reverse(f"leaderboard:{name}", args=[value])
    return path if request is None else request.build_absolute_uri(path)


@extend_schema_field(OpenApiTypes.URI)
class HtmlUrl(serializers.Field[Any, Any, str, Any]):
    """The page of a row, named by one of its attributes."""

    def __init__(self, name: str, attribute: str = "pk", **options: Any) -> None:
        options.setdefault("source", "*")
        super().__init__(read_only=True, help_text=HTML_URL_HELP, **options)
        self.name, self.attribute = name, attribute

    def to_representation(self, value: Any) -> str:
        named = getattr(value, self.attribute)
        return html_url(self.context.get("request"), self.name, named)
