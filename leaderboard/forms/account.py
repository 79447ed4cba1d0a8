"""Forms about teams, webhooks, notices and leaving."""

from __future__ import annotations

from typing import Any

from django import forms

from genie.lib.typing import Account
from leaderboard.models import Membership
from leaderboard.services.announce import KINDS

_WORDS = {
    "submitted": "a submission of my teams has arrived",
    "invalid": "its file cannot be used",
    "approved": "staff approved it, and people are asked",
    "scored": "its score is there",
    "published": "its result is published",
}


class TeamForm(forms.Form):
    name = forms.CharField(
        max_length=200, help_text="Boards show it beside your systems."
    )


class InviteForm(forms.Form):
    email = forms.EmailField(
        label="E-mail address",
        required=False,
        help_text="We write to them. Without one you get a link to hand over.",
    )
    role = forms.ChoiceField(
        label="They become",
        choices=Membership.Role.choices,
        initial=Membership.Role.MEMBER,
        help_text="Owners invite, remove and look after webhooks; all hand in.",
    )


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="We POST to it when something happens to your submissions.",
    )


class NoticesForm(forms.Form):
    wanted = forms.MultipleChoiceField(
        label="Write to me when",
        choices=[(kind, _WORDS[kind]) for kind in KINDS.values()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


class LeaveForm(forms.Form):
    name = forms.CharField(label="Your name, to be sure", max_length=150)

    def __init__(self, *args: Any, user: Account, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        # typed and not clicked: deleting cannot be undone
        if name != self.user.get_username():
            raise forms.ValidationError("This is not the name of this account.")
        return name
