"""The form by which predictions are handed in; the service has the last word."""

from __future__ import annotations

from datetime import date
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from leaderboard.submissions.models.submission import Submission, Team

MOST_LINKS = 10


class SubmissionForm(forms.Form):
    system_name = forms.CharField(
        label=gettext_lazy("System name"),
        max_length=100,
        help_text=gettext_lazy("Shown on the leaderboard."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    file = forms.FileField(
        label=gettext_lazy("Predictions"),
        help_text=(
            gettext_lazy(
                "A JSON object from instance id to prediction, JSONL, TSV, or one line per "
                "instance; plain or compressed with gzip."
            )
        ),
        # an empty file is refused by the service, with its own sentence
        allow_empty_file=True,
    )
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
    team = forms.ModelChoiceField(
        Team.objects.none(),
        label=gettext_lazy("Team"),
        empty_label=None,
        required=False,
    )
    visibility = forms.ChoiceField(
        label=gettext_lazy("Visibility"),
        choices=[
            ("PUBLIC", gettext_lazy("Public: shown on the leaderboard")),
            ("PRIVATE", gettext_lazy("Private: visible only to your team and staff")),
        ],
        initial=Submission.Visibility.PUBLIC,
        widget=forms.RadioSelect,
    )
    anonymous_until = forms.DateField(
        label=gettext_lazy("Anonymous until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=(
            gettext_lazy(
                "Until this day, the board shows the system but not the team, "
                "description or links. Leave empty to show them at once."
            )
        ),
    )

    def __init__(
        self,
        *args: Any,
        teams: list[Team],
        preselected: Team | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["team"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101
        field.queryset = Team.objects.filter(pk__in=[team.pk for team in teams])
        field.initial = preselected
        # with one team, or none yet, the service knows which one is meant
        field.required = len(teams) > 1
        if len(teams) < 2:
            field.widget = forms.HiddenInput()

    def clean_links(self) -> list[str]:
        lines = str(self.cleaned_data["links"]).split()
        if len(lines) > MOST_LINKS:
            raise forms.ValidationError(
                gettext("Give at most %(most_links)s links.")
                % {"most_links": MOST_LINKS}
            )
        return lines

    def clean_anonymous_until(self) -> date | None:
        day: date | None = self.cleaned_data["anonymous_until"]
        if day is not None and day <= timezone.localdate():
            raise forms.ValidationError(
                gettext("Choose a day after today, or leave it empty.")
            )
        return day


class WithdrawalForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=400,
        help_text=gettext_lazy("Recorded in the submission's events."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
