"""Periodic work as jobs: thin, and safe to run twice."""

from crowd.campaigns.services import work_records
from quality.appeals.services import outcomes


def renew_work_records() -> None:
    """Update the records of pace and decisions that lists of work show."""
    work_records.renew(outcomes())
