"""The API's description, outside its versions."""

from __future__ import annotations

from django.urls import path

from leaderboard.api import docs

urlpatterns = [
    path("schema/", docs.Schema.as_view(), name="api-schema"),
    path("docs/", docs.page, name="api-docs"),
]
