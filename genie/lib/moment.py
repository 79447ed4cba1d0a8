from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils import timezone

STAMP = "%Y%m%dT%H%M%SZ"


def stamp(at: datetime) -> str:
    """Format a moment for an address: 20261120T162111Z."""
    return at.astimezone(UTC).strftime(STAMP)


def whole_second(at: datetime) -> datetime:
    """Round up to a whole second, so that a stamp includes everything until then."""
    # Up, not down: a result published within this second belongs to the stamp.
    return (at + timedelta(microseconds=999_999)).replace(microsecond=0)


def read_moment(text: str) -> datetime | None:
    """Read a stamp, a date (its end) or an ISO time; None if invalid or in the future."""
    for read in (_stamp, _day, _iso):
        try:
            at = read(text.strip())
        except (ValueError, OverflowError):
            continue
        # a board of the future would change under an address that promises not to
        return at if at <= whole_second(timezone.now()) else None
    return None


def _stamp(text: str) -> datetime:
    return datetime.strptime(text, STAMP).replace(tzinfo=UTC)


def _day(text: str) -> datetime:
    # the whole day, as far as it has passed
    day = date.fromisoformat(text)
    end = datetime.combine(day, time(23, 59, 59), tzinfo=UTC)
    begun = datetime.combine(day, time(), tzinfo=UTC) <= timezone.now() < end
    return whole_second(timezone.now()) if begun else end


def _iso(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return whole_second(at if at.tzinfo else at.replace(tzinfo=UTC))


# The start of campaigns: the same hour of a working day, in a fixed time zone.
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
