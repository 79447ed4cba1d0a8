"""Links of the admin that its reader may not open become plain text, on every page.

Django links each foreign key to its row for every reader, and our own pages link to
each other. The permissions checked here are those checked when the link is opened.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve

from genie.accounts.staff import staff_may
from genie.accounts.task_admin import OfTask

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite, ModelAdmin

_LINK = re.compile(r'<a\b[^>]*?\bhref="(/[^"?#]*)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
# Pages whose names are not those of a list, or that need more than the view permission.
_VERBS = {"add": "add", "delete": "delete", "approve": "decide", "tests": "decide"}
_PERMISSIONS = {"leaderboard_worker_evidence": "quality.view_grade"}


def unlink(site: AdminSite, request: HttpRequest, response: HttpResponse) -> None:
    if getattr(request.user, "is_superuser", False):
        return
    text = response.content.decode(response.charset)
    addresses = {found[0] for found in _LINK.findall(text)}
    if closed := _closed_addresses(site, request, addresses):
        response.content = _LINK.sub(
            lambda found: found[2] if found[1] in closed else found[0], text
        )


def _closed_addresses(
    site: AdminSite, request: HttpRequest, addresses: set[str]
) -> set[str]:
    closed = set()
    # rows of tasks are looked up all at once
    rows: dict[tuple[Any, str], dict[str, set[str]]] = defaultdict(
        lambda: defaultdict(set)
    )
    admins = {
        f"{model._meta.app_label}_{model._meta.model_name}": one
        for model, one in site._registry.items()
    }
    for address in addresses:
        match = _match(address)
        if match is None:
            continue
        model_admin, verb = _page(admins, match)
        key = str(match.kwargs.get("object_id", match.kwargs.get("pk", "")))
        if match.url_name in _PERMISSIONS:
            is_open = staff_may(request.user, _PERMISSIONS[match.url_name])
        elif match.url_name == "app_list":
            is_open = bool(site._build_app_dict(request, match.kwargs["app_label"]))
        else:
            is_open = model_admin is None or bool(
                getattr(model_admin, f"has_{verb}_permission")(request)
            )
        if not is_open:
            closed.add(address)
        elif isinstance(model_admin, OfTask) and key.isdecimal():
            rows[model_admin, verb][key].add(address)
    for (model_admin, verb), by_key in rows.items():
        closed |= _of_other_tasks(model_admin, request, verb, by_key)
    return closed


def _match(address: str) -> ResolverMatch | None:
    try:
        match = resolve(address)
    except Resolver404:
        return None
    return match if match.app_name == "admin" and match.url_name else None


def _page(
    admins: dict[str, ModelAdmin[Any]], match: ResolverMatch
) -> tuple[ModelAdmin[Any] | None, str]:
    stem, _, last = str(match.url_name).rpartition("_")
    return admins.get(stem), _VERBS.get(last, "view")


def _of_other_tasks(
    model_admin: OfTask, request: HttpRequest, verb: str, by_key: dict[str, set[str]]
) -> set[str]:
    if staff_may(request.user, model_admin.permission_to(verb)):
        return set()
    if model_admin.model._meta.model_name == "grade":  # its pages are workers'
        return set()
    seen = model_admin.get_queryset(request).filter(pk__in=list(by_key))
    may = {str(row.pk) for row in seen if _may_row(model_admin, request, verb, row)}
    return {one for key, some in by_key.items() if key not in may for one in some}


def _may_row(model_admin: OfTask, request: HttpRequest, verb: str, row: Any) -> bool:
    changes = verb == "view" and model_admin.may(request, "change", row)
    return changes or model_admin.may(request, verb, row)
