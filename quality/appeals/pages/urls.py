from __future__ import annotations

from django.urls import path

from quality.appeals.pages import appeals

app_name = "appeals"
urlpatterns = [
    path("work/<int:pk>/", appeals.rejection, name="work"),
    path("requester/<str:entity_id>/", appeals.requester, name="requester"),
    path("exclusion/", appeals.exclusion, name="exclusion"),
    path("ban/<slug:pool>/", appeals.ban, name="ban"),
]
