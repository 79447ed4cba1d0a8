"""The start of campaigns: the same hour of a working day, in a fixed time zone."""

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

SATURDAY = 5


def next_start(
    now: datetime, *, zone: str, hour: int, holidays: Collection[date] = ()
) -> datetime:
    """Return the next start, in UTC: `hour` o'clock in `zone` on a working day.

    A start exactly at the aware `now` counts. Weekends and `holidays`, which are local
    dates, have none.
    """
    if now.tzinfo is None:
        raise ValueError("`now` must be timezone-aware.")
    local = ZoneInfo(zone)
    day = now.astimezone(local).date()
    while True:
        start = datetime.combine(day, time(hour), tzinfo=local).astimezone(UTC)
        if start >= now and day.weekday() < SATURDAY and day not in holidays:
            return start
        day += timedelta(days=1)
