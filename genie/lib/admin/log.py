from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.admin.models import CHANGE, LogEntry
from django.db import models

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def note(
    by: AbstractBaseUser | None, about: models.Model, sentence: str, why: str = ""
) -> None:
    """Write a person's action to the admin's log; programs leave no entry."""
    if by is not None and by.pk is not None:
        LogEntry.objects.log_actions(
            by.pk,
            [about],
            CHANGE,
            f"{sentence} Reason: {why}" if why else sentence,
            single_object=True,
        )
