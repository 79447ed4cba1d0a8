from __future__ import annotations

from django.urls import path

from crowd.elsewhere.hooks import mturk, prolific

app_name = "hooks"
urlpatterns = [
    path("prolific/", prolific.receive, name="prolific"),
    path("mturk/<str:secret>/", mturk.receive, name="mturk"),
]
