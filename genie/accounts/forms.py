from typing import Any

from allauth.account import forms as allauth_forms
from django import forms
from django.utils.translation import gettext, gettext_lazy

from genie.accounts.models import AccessToken
from genie.accounts.tokens import DEFAULT_DAYS
from genie.lib.typing import Account


class LoginForm(allauth_forms.LoginForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        self.fields["login"].label = gettext("User name or e-mail address")
        self.fields["password"].help_text = ""
        self.fields["remember"].label = gettext("Stay signed in on this device")


class SignupForm(allauth_forms.SignupForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        self.fields["username"].label = gettext("User name")
        self.fields["username"].help_text = gettext("Letters, digits and @ . + - _")
        self.fields["email"].label = gettext("E-mail address")
        self.fields["password2"].label = gettext("Confirm password")


class ChangePasswordForm(allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        self.fields["oldpassword"].label = gettext("Current password")
        # The page has that link next to its button.
        self.fields["oldpassword"].help_text = ""
        _choose_password(self)


class SetPasswordForm(allauth_forms.SetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        _choose_password(self)


class ResetPasswordKeyForm(allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        _choose_password(self)


class ResetPasswordForm(allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        self.fields["email"].label = gettext("E-mail address")


class AddEmailForm(allauth_forms.AddEmailForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain(self)
        self.fields["email"].label = gettext("E-mail address")


def _choose_password(form: forms.Form) -> None:
    form.fields["password1"].label = gettext("New password")
    form.fields["password2"].label = gettext("Confirm new password")


def _plain(form: forms.Form) -> None:
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


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
        help_text=gettext_lazy(
            "Helps you recognise it later: say where it will be used."
        ),
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
