from typing import Any, ClassVar

from allauth.account import forms as allauth_forms
from django import forms
from django.utils.translation import gettext, gettext_lazy

from genie.accounts.models import AccessToken
from genie.accounts.tokens import DEFAULT_DAYS
from genie.lib.typing import Account


class PlainForm(forms.Form):
    """A form of allauth in our words, without placeholders."""

    labels: ClassVar[dict[str, Any]] = {}
    help_texts: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        for name, label in self.labels.items():
            self.fields[name].label = label
        for name, text in self.help_texts.items():
            self.fields[name].help_text = text


class LoginForm(PlainForm, allauth_forms.LoginForm):  # type: ignore[misc]
    labels = {
        "login": gettext_lazy("User name or e-mail address"),
        "remember": gettext_lazy("Stay signed in on this device"),
    }
    help_texts = {"password": ""}


class SignupForm(PlainForm, allauth_forms.SignupForm):  # type: ignore[misc]
    labels = {
        "username": gettext_lazy("User name"),
        "email": gettext_lazy("E-mail address"),
        "password2": gettext_lazy("Confirm password"),
    }
    help_texts = {"username": gettext_lazy("Letters, digits and @ . + - _")}


class SetPasswordForm(PlainForm, allauth_forms.SetPasswordForm):  # type: ignore[misc]
    labels = {
        "password1": gettext_lazy("New password"),
        "password2": gettext_lazy("Confirm new password"),
    }


class ChangePasswordForm(PlainForm, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    labels = {**SetPasswordForm.labels, "oldpassword": gettext_lazy("Current password")}
    # The page has that link next to its button.
    help_texts = {"oldpassword": ""}


class ResetPasswordKeyForm(PlainForm, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    labels = SetPasswordForm.labels


class ResetPasswordForm(PlainForm, allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    labels = {"email": gettext_lazy("E-mail address")}


class AddEmailForm(PlainForm, allauth_forms.AddEmailForm):  # type: ignore[misc]
    labels = {"email": gettext_lazy("E-mail address")}


class TokenForm(forms.Form):
    DAYS = [
        ("30", gettext_lazy("30 days")),
        ("90", gettext_lazy("90 days")),
        ("365", gettext_lazy("1 year")),
        ("0", gettext_lazy("no expiry")),
    ]

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("Helps you recognize it later. Enter where you use it."),
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"),
        choices=DAYS,
        initial=str(DEFAULT_DAYS),
        coerce=lambda days: int(days) or None,
    )

    def __init__(self, *args: Any, user: Account, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [
            choice
            for choice in AccessToken.Scope.choices
            if choice[0] != AccessToken.Scope.STAFF or user.is_staff
        ]
        self.fields["scopes"] = forms.MultipleChoiceField(
            label=gettext("Scopes"),
            choices=offered,
            widget=forms.CheckboxSelectMultiple,
            initial=["read", "submit"],
            error_messages={"required": gettext("Choose at least one scope.")},
        )
        self.order_fields(["name", "scopes", "days"])
