from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from genie.lib.typing import Account
from leaderboard.teams.models import Membership
from leaderboard.teams.services.announce import KINDS

_WORDS = {
    "submitted": gettext_lazy("a submission of my teams was received"),
    "invalid": gettext_lazy("its file is invalid"),
    "approved": gettext_lazy("staff approved it, and human evaluation starts"),
    "published": gettext_lazy("its result is published"),
}


class TeamForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        help_text=gettext_lazy("Leaderboards show it next to your systems."),
    )


class InviteForm(forms.Form):
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        required=False,
        help_text=gettext_lazy(
            "We send the invitation there. Leave empty to get a link that you can "
            "share."
        ),
    )
    role = forms.ChoiceField(
        label=gettext_lazy("Role"),
        choices=Membership.Role.choices,
        initial=Membership.Role.MEMBER,
        help_text=gettext_lazy(
            "Owners also manage members and webhooks; all members can submit."
        ),
    )


class WebhookForm(forms.Form):
    url = forms.CharField(
        label=gettext_lazy("Endpoint URL"),
        max_length=500,
        help_text=gettext_lazy(
            "We send a POST request when something happens to your submissions."
        ),
    )


class NoticesForm(forms.Form):
    wanted = forms.MultipleChoiceField(
        label=gettext_lazy("E-mail me when"),
        choices=[(kind, _WORDS[kind]) for kind in KINDS.values()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )


class LeaveForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Enter your user name to confirm"), max_length=150
    )

    def __init__(self, *args: Any, user: Account, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        # typed and not clicked: deleting cannot be undone
        if name != self.user.get_username():
            raise forms.ValidationError(
                gettext("This is not the user name of this account.")
            )
        return name
