"""Optional details of a system, entered with its predictions or later."""

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from genie.lib.errors import GenieError
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.services.about_system import FIELDS

MOST_LINKS = 10
_FIELD = {"bad-link": "links", "bad-description": "description"}


def said_at(error: GenieError) -> str | None:
    """Return the form field of an error in a system's details."""
    return _FIELD.get(error.code) or error.details.get("parameter")


def initial_of(submission: Submission) -> dict[str, Any]:
    said = {name: getattr(submission, name) for name in ("description", *FIELDS)}
    return {**said, "links": "\n".join(submission.links)}


class AboutSystemForm(forms.Form):
    description = forms.CharField(
        label=gettext_lazy("Description"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=gettext_lazy("What the system is and how it was built."),
    )
    links = forms.CharField(
        label=gettext_lazy("Links"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Paper, code, weights: one web address per line."),
    )
    organization = forms.CharField(
        label=gettext_lazy("Organization"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("Who built the system, if it is not your team."),
    )
    weights = forms.ChoiceField(
        label=gettext_lazy("Weights"),
        required=False,
        choices=[("", gettext_lazy("not stated")), *Submission.Weights.choices],
        help_text=gettext_lazy("Open weights: anybody can download the model."),
    )
    parameters = forms.CharField(
        label=gettext_lazy("Parameters"),
        required=False,
        max_length=20,
        help_text=gettext_lazy("How many, such as 7B, 355M or 8x22B."),
    )
    licence = forms.CharField(
        label=gettext_lazy("Licence of the system"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("Such as Apache-2.0, or proprietary."),
    )

    def clean_links(self) -> list[str]:
        lines = str(self.cleaned_data["links"]).split()
        if len(lines) > MOST_LINKS:
            raise forms.ValidationError(
                gettext("Give at most %(most_links)s links.")
                % {"most_links": MOST_LINKS}
            )
        return lines
