"""The forms for a task's pilot and for later changes."""

import copy
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from django import forms

from crowd.hit_templates.form import READ_CHARACTERS
from leaderboard.studio.forms import PeopleForm, RewardForm
from leaderboard.studio.services import pilot


class ProposalForm(RewardForm):
    reward, n_items, ratings = (
        copy.copy(PeopleForm.base_fields[name])
        for name in ("reward", "n_items", "ratings")
    )


class PilotForm(RewardForm):
    n_items = forms.IntegerField(
        min_value=1, max_value=100, initial=pilot.N_ITEMS, label="Pages"
    )
    n_people = forms.IntegerField(
        min_value=2,
        max_value=20,
        initial=pilot.N_PEOPLE,
        label="People, who judge all of them",
    )
    reward = forms.DecimalField(
        min_value=0,
        max_value=100,
        decimal_places=2,
        required=False,
        label="Reward for one page, in dollars",
        help_text="Empty: nothing, for yourself and colleagues.",
    )
    joins = forms.BooleanField(required=False, initial=True, label="I am one of them")

    def wanted(self, n_inputs: int) -> pilot.Wanted:
        """Return the size and reward; the default if the input is invalid."""
        if not self.is_valid():
            return pilot.Wanted(n_items=min(pilot.N_ITEMS, n_inputs))
        said = self.cleaned_data
        return pilot.Wanted(
            n_items=min(said["n_items"], n_inputs),
            n_people=said["n_people"],
            reward_cents=said["reward_cents"] or 0,
            joins=said["joins"],
        )


class EditForm(RewardForm):
    title = forms.CharField(max_length=100, label="Name of the task")
    summary = forms.CharField(
        max_length=300, required=False, label="What a system has to do, in a sentence"
    )
    description = forms.CharField(
        max_length=4000,
        required=False,
        label="Description",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    reward = forms.DecimalField(
        min_value=0,
        max_value=100,
        decimal_places=2,
        label="Reward for one page, in dollars",
        help_text="Of campaigns that start from now on; a running one has its own page.",
    )
    budget = forms.DecimalField(
        min_value=0,
        max_value=10_000_000,
        decimal_places=2,
        required=False,
        label="Budget of the task, in dollars",
        help_text="What all its campaigns may cost together.",
    )
    submissions = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label="Submissions of a team",
        help_text="0: as many as it likes.",
    )
    days = forms.IntegerField(min_value=1, max_value=3650, label="Within so many days")
    instructions = forms.CharField(
        max_length=READ_CHARACTERS,
        required=False,
        label="Instructions",
        help_text="Markdown. The usual ones where it is left empty.",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    consent = forms.CharField(
        max_length=READ_CHARACTERS,
        required=False,
        label="What workers agree to",
        help_text="Markdown. Workers are asked again when it has changed; each wording "
        "that somebody agreed to is kept.",
        widget=forms.Textarea(attrs={"rows": 12}),
    )
    judges_show = forms.BooleanField(
        required=False,
        label="Show means with judges’ help beside people’s",
        help_text="Judges are programs. Without a licence that stands nothing is shown.",
    )
    judges_rank = forms.BooleanField(
        required=False,
        label="Rank by means with judges’ help",
        help_text="The board says so. Without a licence that stands, people rank alone.",
    )
    because = forms.CharField(max_length=500, required=False, label="Why")

    def __init__(
        self,
        data: Any,
        said: Mapping[str, Any],
        *,
        budget_cents: int | None,
        may_budget: bool,
        only: Collection[str] = (),
    ) -> None:
        initial = {**said, "reward": Decimal(said["reward_cents"]) / 100}
        if budget_cents is not None:
            initial["budget"] = Decimal(budget_cents) / 100
        super().__init__(data, initial=initial)
        if not may_budget:
            del self.fields["budget"]
        for name in [*self.fields] if only else ():
            if name not in {*only, "because"}:
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        budget = cleaned.pop("budget", None)
        said = "budget" in self.changed_data and budget is not None
        cleaned["budget_cents"] = int(budget * 100) if said else None
        if "reward" not in self.fields:
            del cleaned["reward_cents"]
        # Browsers send CR LF.
        for name in {"description", "instructions", "consent"} & self.fields.keys():
            cleaned[name] = cleaned.get(name, "").replace("\r\n", "\n")
        return cleaned
