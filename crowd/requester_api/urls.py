from __future__ import annotations

from django.urls import path

from crowd.requester_api.wire import endpoint

app_name = "turk"
# People leave out the slash at the end, and no program follows a redirect of a signed
# request.
urlpatterns = [
    path("", endpoint, name="endpoint-bare"),
    path("/", endpoint, name="endpoint"),
]
