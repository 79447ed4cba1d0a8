from __future__ import annotations

from django.urls import path, re_path

from crowd.requester.api.wire import endpoint

app_name = "turk"
# People leave out the slash at the end, and no program follows a redirect of a signed
# request.
urlpatterns = [
    path("", endpoint, name="endpoint-bare"),
    # As a plain "/" the check of deployments takes it for a mistake.
    re_path(r"^(?:/)$", endpoint, name="endpoint"),
]
