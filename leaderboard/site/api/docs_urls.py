from django.urls import path
from django.views.generic import RedirectView

from leaderboard.site.api import docs

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="api-docs"), name="api-home"),
    path("schema/", docs.Schema.as_view(), name="api-schema"),
    path("docs/", docs.page, name="api-docs"),
    path("docs/try/", docs.try_it, name="api-docs-try"),
    path("docs/<slug:slug>/", docs.group, name="api-docs-group"),
]
