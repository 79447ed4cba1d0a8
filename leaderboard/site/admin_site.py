"""The admin's first page, ordered by the work of staff instead of by apps."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite, autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.template.response import TemplateResponse
from django.urls import reverse

if TYPE_CHECKING:
    from django.http import HttpRequest

# Unlisted models come last.
TABLES = "Tables"
GROUPS: dict[str, tuple[str, ...]] = {
    "Decide": (
        "leaderboard.submission",
        "leaderboard.comparison",
        "leaderboard.jointevaluation",
        "quality.heldexclusion",
        "quality.appeal",
        "leaderboard.outsidemetric",
    ),
    "Run": (
        "leaderboard.task",
        "crowd.campaign",
        "leaderboard.metricrun",
        "crowd.externalcampaign",
        "crowd.panelsource",
        "quality.retiredquestion",
        "django_q.failure",
    ),
    "People": (
        "crowd.worker",
        "crowd.invitation",
        "crowd.message",
        "crowd.qualificationtest",
        "crowd.qualificationgrant",
        "crowd.requirement",
        "quality.ban",
        "leaderboard.team",
        "crowd.requester",
        "crowd.workerrecord",
    ),
    "Money": (
        "crowd.payoutrun",
        "crowd.payout",
        "crowd.payoutterms",
        "crowd.budget",
        "crowd.commitment",
        "crowd.ledgerentry",
        "crowd.exchangerate",
    ),
    "Set up": (
        "auth.user",
        "auth.group",
        "genie.taskrole",
        "genie.privateread",
        "genie.accesstoken",
        "crowd.accesskey",
    ),
}


class StaffSite(AdminSite):
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            response = inner(request, *args, **kwargs)
            if isinstance(response, TemplateResponse):
                # lists are registered only once this module is loaded
                from leaderboard.site.closed_links import unlink

                response.add_post_render_callback(partial(unlink, self, request))
            return response

        return wrapper

    def check(self, app_configs: Any) -> list[Any]:
        autodiscover()
        return super().check(app_configs)

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[Any]:
        """Group the models that this user may see; one app's page stays Django's."""
        apps: list[Any] = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        models = {
            f"{app['app_label']}.{model['object_name'].lower()}": model
            for app in apps
            for model in app["models"]
        }
        groups = [
            (title, [models.pop(name) for name in names if name in models])
            for title, names in GROUPS.items()
        ]
        return [
            _group(title, members)
            for title, members in [*groups, (TABLES, list(models.values()))]
            if members
        ]


class StaffAdminConfig(SimpleAdminConfig):
    """Registers admin lists only with pages that need them: most commands need none."""

    default_site = "leaderboard.site.admin_site.StaffSite"


def _group(title: str, models: list[Any]) -> dict[str, Any]:
    label = title.lower().replace(" ", "-")
    return {
        "name": title,
        "app_label": label,
        "app_url": f"{reverse('admin:index')}#{label}",
        "has_module_perms": True,
        "models": models,
    }
