"""Periodic work as jobs: thin, and safe to run twice."""

from crowd.campaigns.services import work_records
from quality.appeals.services import outcomes


def renew_work_records() -> None:
    """Count what lists of work say of its pace and of those who decide on it."""
    work_records.renew(outcomes())
