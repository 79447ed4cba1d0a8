import re
from urllib.parse import quote

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView

from leaderboard.api.base import Shareable
from leaderboard.api.problems import KINDS
from leaderboard.api.throttles import Reads, ReadsOfVisitors
from leaderboard.site.api.operations import groups, operations
from leaderboard.tasks.models import Task

# Prefix of a path parameter in a form; a query parameter may have the same name.
_IN_PATH = "path-"


class Schema(Shareable, SpectacularAPIView):
    """The OpenAPI document: YAML, or JSON where it is asked for."""

    throttle_classes = [ReadsOfVisitors, Reads]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    context = {
        "here": "docs",
        "groups": groups(),
        "kinds": sorted(KINDS.items(), key=lambda item: (item[1].status, item[0])),
        "base": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "api/docs.html", context)


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        shown = next(one for one in groups() if one.slug == slug)
    except StopIteration:
        raise Http404("There is no such group of operations.") from None
    base = f"{request.scheme}://{request.get_host()}"
    rows = [
        {**one, "request": one["request"].replace("{base}", base)}
        for one in shown.operations
    ]
    context = {
        "here": "docs",
        "group": shown._replace(operations=rows),
        "groups": groups(),
        "some_task": Task.objects.order_by("pk").values_list("slug", flat=True).first(),
    }
    return render(request, "api/group.html", context)


@require_safe
def try_it(request: HttpRequest) -> HttpResponse:
    wanted = request.GET.get("operation")
    operation = next(
        (one for one in operations() if one["id"] == wanted and one["method"] == "GET"),
        None,
    )
    if operation is None:
        return redirect("api-docs")
    asked = {name: str(value) for name, value in request.GET.items()}
    values = {
        name.removeprefix(_IN_PATH): quote(value.strip(), safe="")
        for name, value in asked.items()
        if name.startswith(_IN_PATH) and re.search(r"\w", value)
    }
    try:
        path = operation["path"].format(**values)
    except KeyError:  # a field of the path was left empty
        return redirect(
            reverse("api-docs-group", args=[operation["group"]]) + f"#{wanted}"
        )
    known = {one["name"] for one in operation["parameters"] if one["place"] == "query"}
    query = {key: value for key, value in asked.items() if value and key in known}
    return redirect(f"{path}?{urlencode(query)}" if query else path)


urlpatterns = [
    path("", RedirectView.as_view(pattern_name="api-docs"), name="api-home"),
    path("schema/", Schema.as_view(), name="api-schema"),
    path("docs/", page, name="api-docs"),
    path("docs/try/", try_it, name="api-docs-try"),
    path("docs/<slug:slug>/", group, name="api-docs-group"),
]
