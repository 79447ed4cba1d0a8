from collections.abc import Mapping
from datetime import date
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from genie.lib.errors import GenieError
from leaderboard.submissions.models import DETAILS, Submission, Team, detail_names
from leaderboard.submissions.services.submit import Quota

# Optional details of a system, entered with its predictions or later.
MOST_LINKS = 10
_FIELD = {"bad-link": "links", "bad-description": "description"}


def said_at(error: GenieError) -> str | None:
    """Return the form field of an error in a system's details."""
    return _FIELD.get(error.code) or error.details.get("parameter")


def initial_of(submission: Submission) -> dict[str, Any]:
    said = {
        name: getattr(submission, name) for name in ("description", *detail_names())
    }
    return {**said, "links": "\n".join(submission.links)}


class AboutSystemForm(forms.Form):
    description = forms.CharField(
        label=gettext_lazy("Description"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=gettext_lazy("Describe the system and how it was built."),
    )
    links = forms.CharField(
        label=gettext_lazy("Links"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Paper, code, weights: one web address per line."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first = [*self.fields][: [*self.fields].index("links") + 1]
        for detail in DETAILS:
            choices = detail.field.choices
            stated = {"choices": [("", gettext_lazy("not stated")), *(choices or ())]}
            self.fields[detail.name] = detail.field.formfield(
                label=detail.label,
                help_text=detail.help_text,
                **(stated if choices else {}),
            )
        self.order_fields([*first, *detail_names()])

    def clean_links(self) -> list[str]:
        lines = str(self.cleaned_data["links"]).split()
        if len(lines) > MOST_LINKS:
            raise forms.ValidationError(
                gettext("Give at most %(most_links)s links.")
                % {"most_links": MOST_LINKS}
            )
        return lines


# The form to check a file without submitting it.
class CheckForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("Predictions"),
        help_text=gettext_lazy(
            "The file that you want to submit, also compressed with gzip or ZIP."
        ),
        allow_empty_file=True,
    )


# The form to submit predictions; the service makes the final checks.
class _TeamField(forms.ModelChoiceField):  # type: ignore[type-arg]
    left: Mapping[int, Quota] = {}

    def label_from_instance(self, team: Team) -> str:
        quota = self.left.get(team.pk)
        if quota is None or not quota.limit:
            return team.name
        if quota.next_at is not None:
            return gettext("%(team)s (no submissions left until %(day)s)") % {
                "team": team.name,
                "day": f"{quota.next_at:%Y-%m-%d}",
            }
        return gettext("%(team)s (%(left)s of %(limit)s submissions left)") % {
            "team": team.name,
            "left": quota.n_left,
            "limit": quota.limit,
        }


class SubmissionForm(AboutSystemForm):
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
                "A JSON object from instance id to prediction, JSONL, CSV, TSV, Excel, "
                "Parquet, or one line per instance, also compressed with gzip or ZIP."
            )
        ),
        # the service refuses an empty file, with a clearer message
        allow_empty_file=True,
    )
    team = _TeamField(
        Team.objects.none(),
        label=gettext_lazy("Team"),
        empty_label=gettext_lazy("Choose a team"),
        required=False,
    )
    field_order = (
        "system_name",
        "file",
        "team",
        "visibility",
        "anonymous_until",
        "description",
        "links",
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
                "Until this day, the board shows the system but not the team or your "
                "description. Leave empty to show them at once."
            )
        ),
    )

    def __init__(
        self, *args: Any, teams: list[Team], left: Mapping[int, Quota], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.left = left
        field = self.fields["team"]
        assert isinstance(field, _TeamField)  # noqa: S101
        field.left = left
        field.queryset = Team.objects.filter(pk__in=[team.pk for team in teams])
        # With one team, or none yet, the service knows the team. With several, there
        # is no default: the team decides who sees the submission, and whose
        # quota it uses.
        field.required = len(teams) > 1
        if len(teams) < 2:
            field.widget = forms.HiddenInput()

    def main_fields(self) -> list[forms.BoundField]:
        return [
            field for field in self.visible_fields() if field.name not in detail_names()
        ]

    def folded_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in detail_names()]

    def folded_in_use(self) -> bool:
        return any(self[name].errors or self[name].value() for name in detail_names())

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
