"""Create a draft: its files, a short name and a title."""

from collections.abc import Callable
from typing import cast

from django import forms
from django.http import HttpRequest

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.studio.models import Draft


def begun(
    request: HttpRequest, form: forms.Form, begin: Callable[..., Draft]
) -> tuple[Draft | None, str]:
    """Create a draft from the form; return None and a message if that fails."""
    files = request.FILES.getlist("files")
    if form.is_bound and not files:
        return None, "Choose at least one file."
    if not form.is_valid():
        return None, ""
    said = {name: form.cleaned_data[name] for name in ("slug", "title")}
    try:
        return begin(owner=cast("Account", request.user), files=files, **said), ""
    except GenieError as error:
        if error.code != "slug-taken":
            return None, error.message
        form.add_error("slug", error.message)
        return None, ""
