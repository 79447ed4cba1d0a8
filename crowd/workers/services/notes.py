from datetime import datetime

from django.contrib.admin.models import LogEntry

from crowd.workers.models.worker import Worker
from genie.lib.admin import note
from genie.lib.typing import Account

_BEGINS = "Note: "


def write(worker: Worker, by: Account, text: str) -> None:
    note(by, worker, f"{_BEGINS}{text}")


def forget_before(limit: datetime) -> int:
    """Delete the notes from before a moment, but not decisions; return how many."""
    notes = LogEntry.objects.filter(
        content_type__app_label="crowd",
        content_type__model="worker",
        change_message__startswith=_BEGINS,
    )
    return int(notes.filter(action_time__lt=limit).delete()[0])
