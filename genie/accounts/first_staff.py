"""The first staff account, created by the operator with a link that works once."""

from django.contrib.auth import get_user_model
from django.contrib.auth.forms import UserCreationForm
from django.contrib.contenttypes.models import ContentType
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext

from genie.lib.errors import GenieError
from genie.lib.typing import Account

_SALT = "genie.first-staff"
_HOURS = 24


class TooLate(GenieError):
    code = "set-up-is-over"


class FirstStaffForm(UserCreationForm):  # type: ignore[type-arg]
    class Meta:
        model = get_user_model()
        fields = ("username", "email")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = gettext("User name")
        self.fields["username"].help_text = gettext("Letters, digits and @ . + - _")
        self.fields["email"].label = gettext("E-mail address")
        self.fields["email"].required = True
        self.fields["password2"].label = gettext("Confirm password")
        self.fields["password2"].help_text = ""


def is_wanted() -> bool:
    users = get_user_model().objects
    return not users.filter(is_superuser=True, is_active=True).exists()


def way() -> str:
    """Return the path of a page that creates the first staff account, valid for a day."""
    return reverse("accounts:set-up", args=[signing.dumps("staff", salt=_SALT)])


def is_good(token: str) -> bool:
    try:
        signing.loads(token, salt=_SALT, max_age=_HOURS * 3600)
    except signing.BadSignature:
        return False
    return True


def make(form: FirstStaffForm) -> Account:
    with transaction.atomic():
        # One after another: this row always exists, and no other code locks it.
        ContentType.objects.select_for_update().get(app_label="auth", model="user")
        if not is_wanted():
            raise TooLate("This site already has a staff account.")
        user: Account = form.save(commit=False)
        user.is_staff = user.is_superuser = True
        user.save()
    return user
