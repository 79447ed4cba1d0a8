from __future__ import annotations

from django.urls import path

from crowd.worker_site import (
    arrive,
    elsewhere,
    hit,
    inbox,
    pages,
    qualification,
    requester_urls,
)

app_name = "work"
urlpatterns = [
    path("", pages.home, name="home"),
    path("invitation/<str:token>/", arrive.invitation, name="invitation"),
    path(
        "panel/<slug:panel>/<int:pk>/",
        arrive.by_link,
        {"platform": "panel"},
        name="panel",
    ),
    path("from/<slug:platform>/<int:pk>/", arrive.by_link, name="arrive"),
    path("elsewhere/<str:token>/", elsewhere.page, name="elsewhere"),
    path("finished/", arrive.finished, name="finished"),
    path("consent/<slug:pool>/", pages.consent, name="consent"),
    path("instructions/<slug:pool>/", pages.instructions, name="instructions"),
    path("earnings/", pages.earnings, name="earnings"),
    path("messages/", inbox.messages, name="messages"),
    path("test/<slug:name>/", qualification.test, name="test"),
    path("try/<int:pk>/", qualification.attempt, name="attempt"),
    path("next/", hit.next_hit, name="next"),
    path("hit/<int:pk>/", hit.hit, name="hit"),
    path("hit/<int:pk>/return/", hit.give_back, name="return"),
    *requester_urls.urlpatterns,
]
