from __future__ import annotations

from django.urls import path

from crowd.requester_api.wire import endpoint

app_name = "turk"
urlpatterns = [path("", endpoint, name="endpoint")]
