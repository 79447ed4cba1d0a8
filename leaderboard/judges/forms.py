from typing import Any

from django import forms

from leaderboard.judges.models import Judge
from leaderboard.judges.services.ask import AUDITED, MOST_AUDITED
from leaderboard.tasks.models import Task


class JudgeForm(forms.Form):
    name = forms.SlugField(max_length=40)
    version = forms.CharField(
        max_length=40, help_text="Another definition needs another version."
    )
    definition = forms.JSONField(
        widget=forms.Textarea(attrs={"rows": 12, "cols": 80}),
        initial={"endpoint": "", "model": ""},
        help_text="At least endpoint and model; docs/judges.md lists the others.",
    )
    input_price = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=3, initial=0,
        help_text="Cents for a million tokens that are sent.",
    )  # fmt: skip
    output_price = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=3, initial=0,
        help_text="Cents for a million tokens that come back.",
    )  # fmt: skip
    per_minute = forms.IntegerField(
        min_value=0, max_value=100_000, initial=60,
        help_text="Requests a minute at most; 0: no limit.",
    )  # fmt: skip
    at_once = forms.IntegerField(min_value=1, max_value=64, initial=4)
    timeout_seconds = forms.IntegerField(min_value=1, max_value=600, initial=60)
    n_retries = forms.IntegerField(
        min_value=0, max_value=10, initial=2,
        help_text="How often an invalid answer is asked for again.",
    )  # fmt: skip
    family = forms.CharField(
        required=False,
        max_length=200,
        help_text="Names of the model's family and of who makes it, with commas between: "
        "systems that are called so are its own kind. It can be added later; a language "
        "model without it gets no licence.",
    )


class RunForm(forms.Form):
    judge = forms.ModelChoiceField(Judge.objects.filter(retired_at=None))
    task = forms.ModelChoiceField(Task.objects.order_by("slug"))
    criteria = forms.CharField(
        required=False,
        help_text="With commas between; empty: all that people are asked.",
    )
    n_instances = forms.IntegerField(
        required=False,
        min_value=1,
        label="Instances",
        help_text="How many; empty: those that people judge.",
    )
    per_page = forms.IntegerField(
        required=False, min_value=2, label="Outputs on a page",
        help_text="Of judges in the mode joint; empty: as many as people's page can show.",
    )  # fmt: skip
    with_references = forms.BooleanField(
        required=False, label="Send references that are hidden"
    )
    with_private = forms.BooleanField(
        required=False, label="Send outputs that are private or not on the board"
    )
    audit = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_AUDITED,
        initial=AUDITED,
        help_text="How many outputs are sent again with planted commands and with "
        "harmless words, ten times each; 0: none, and no licence.",
    )
    occasion = forms.CharField(
        required=False,
        max_length=100,
        help_text="A word here asks again what was answered before, to see whether "
        "answers moved.",
    )

    def clean_audit(self) -> int:
        return int(self.cleaned_data["audit"] or 0)

    def clean_criteria(self) -> list[str]:
        words: Any = self.cleaned_data["criteria"].split(",")
        return [word.strip() for word in words if word.strip()]


class ApprovalForm(forms.Form):
    cents = forms.IntegerField(
        required=False,
        min_value=0,
        help_text="The most that each may cost, in cents; empty: what it says it costs "
        "at most. No request is sent that could pass it.",
    )
    references = forms.BooleanField(
        required=False, label="Hidden references may be sent"
    )
    private = forms.BooleanField(
        required=False, label="Private outputs, and those not on the board, may be sent"
    )
    reason = forms.CharField(
        max_length=1000, widget=forms.Textarea(attrs={"rows": 3, "cols": 80})
    )
