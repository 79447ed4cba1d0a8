from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import CommandError


def owner(name: str) -> Any:
    """Return the member of staff of that name, or the only superuser.

    Raises CommandError if there is none, or several superusers.
    """
    users = get_user_model().objects.filter(is_staff=True, is_active=True)
    found = users.filter(username=name) if name else users.filter(is_superuser=True)
    if len(found) == 1:
        return found[0]
    if name:
        raise CommandError(f"There is no staff member {name!r}.")
    raise CommandError(
        "There are several superusers. Choose one with --owner."
        if found
        else (
            "The task needs an owner. Create an account with genie createsuperuser, "
            "or choose a staff member with --owner."
        )
    )
