"""Replace a key of the site: at each moment, what the database has sealed can be opened."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core.management.utils import get_random_secret_key
from django.db import models, transaction

from genie.lib import keys
from genie.lib.errors import GenieError
from genie.lib.queue.locks import lock_supervisor
from genie.lib.queue.waiting import sign_all_anew
from genie.lib.unguessable import SealedText, seal_anew

_AT_ONCE = 200


def rotate(name: str) -> Path:
    """Replace a key by a random one, and return its file.

    Raises GenieError ``key-in-environment``, or ``queue-taken`` for the queue's key
    while the queue runs.
    """
    path = keys.path_of(name)
    if path is None:
        variable = keys.VARIABLES[name]
        raise GenieError(
            f"{variable} has the key itself, which a command cannot change. Put the key "
            f"into a file, and set {variable}_FILE to its path.",
            code="key-in-environment",
        )
    new = get_random_secret_key()
    if name == keys.SESSION:
        _rotate_session(path, new)
    elif name == keys.QUEUE:
        with lock_supervisor():
            _rotate_queue(path, new)
    else:
        keys.write(path, [new])
    return path


def _rotate_session(path: Path, new: str) -> None:
    for name in (keys.QUEUE, keys.PSEUDONYM, keys.REQUESTER):
        own = keys.path_of(name)
        if own is not None and not own.exists():
            # It was the session's until now.
            keys.write(own, keys.values(name))
    # Only now is the key before this one, if any, no longer needed.
    _seal_all_anew()
    # A request that has begun may still seal with the former key.
    keys.write(path, [new, keys.session_key()])
    _seal_all_anew()


def _rotate_queue(path: Path, new: str) -> None:
    # Should this be killed, the queue accepts both.
    keys.write(path, [new, *keys.values(keys.QUEUE)])
    sign_all_anew()
    keys.write(path, [new])


def _seal_all_anew() -> None:
    columns = [
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.local_concrete_fields
        if isinstance(field, SealedText)
    ]
    for model, name in [*columns, (Authenticator, "data")]:
        rows = model._base_manager.exclude(**{name: ""}).order_by("pk")
        pks = list(rows.values_list("pk", flat=True))
        for first in range(0, len(pks), _AT_ONCE):
            _seal_some_anew(model, name, pks[first : first + _AT_ONCE])


@transaction.atomic
def _seal_some_anew(model: type[models.Model], name: str, pks: Sequence[Any]) -> None:
    rows = list(model._base_manager.select_for_update().filter(pk__in=pks))
    for row in rows:
        setattr(row, name, seal_anew(getattr(row, name)))
    model._base_manager.bulk_update(rows, [name])
