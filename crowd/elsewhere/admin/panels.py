from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from crowd.elsewhere.models.panel import PanelSource
from crowd.elsewhere.services.visits import PANEL, options_of
from crowd.hits.models.campaign import Campaign
from crowd.platforms.base import get
from genie.lib.admin.reasons import AsksWhy
from genie.lib.errors import GenieError

OFFERED = (
    Campaign.State.SCHEDULED,
    Campaign.State.RUNNING,
    Campaign.State.PAUSED,
)


class PanelForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = PanelSource
        fields = "__all__"  # noqa: DJ007 - staff set all of it, and nothing else has it
        widgets = {"link_secret": forms.PasswordInput(render_value=True)}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            names = [field.name for field in PanelSource._meta.concrete_fields]
            values = {name: cleaned[name] for name in names if name in cleaned}
            values["name"] = values.get("name", self.instance.name)
            try:
                get(PANEL, options_of(PanelSource(**values)))
            except GenieError as error:
                raise forms.ValidationError(error.message) from error
        return cleaned


@admin.register(PanelSource)
class PanelSourceAdmin(AsksWhy):
    form = PanelForm
    list_display = ["title", "name", "worker_parameter", "is_open", "signed"]
    readonly_fields = ["links"]
    # Panels are closed, not deleted, because visits refer to them.
    actions: Any = []

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Pseudonyms are derived from the name, so a new name would make everyone
        # unknown.
        return ["name", *self.readonly_fields] if obj is not None else []

    @admin.display(description="signed links only", boolean=True)
    def signed(self, panel: PanelSource) -> bool:
        return bool(panel.link_secret)

    @admin.display(description="links for the panel")
    def links(self, panel: PanelSource) -> str:
        campaigns = Campaign.objects.filter(platform=PANEL, state__in=OFFERED)
        rows = [
            (campaign.title, _link(panel, campaign))
            for campaign in campaigns.order_by("-pk")
        ]
        if not rows:
            return "No campaign uses panels at the moment."
        return format_html(
            "<ul>{}</ul>",
            format_html_join("", "<li>{}<br><code>{}</code></li>", rows),
        )


def _link(panel: PanelSource, campaign: Campaign) -> str:
    address = reverse("work:panel", args=[panel.name, campaign.pk])
    names = [panel.worker_parameter, panel.session_parameter, panel.study_parameter]
    marks = "&".join(f"{name}=…" for name in names if name)
    return f"{str(settings.GENIE['SITE_URL']).rstrip('/')}{address}?{marks}"
