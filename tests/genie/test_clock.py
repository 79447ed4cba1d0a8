from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from genie.lib.moment import next_start

LA = {"zone": "America/Los_Angeles", "hour": 10}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "start"),
    [
        ("2026-11-20T17:59", "2026-11-20T18:00"),  # a Friday morning
        ("2026-11-20T18:00", "2026-11-20T18:00"),  # exactly now
        ("2026-11-20T18:01", "2026-11-23T18:00"),  # over the weekend
        ("2026-11-21T10:00", "2026-11-23T18:00"),  # Saturday
        ("2026-07-01T00:00", "2026-07-01T17:00"),  # daylight saving time
        ("2026-10-30T18:00", "2026-11-02T18:00"),  # it ends on that weekend
        ("2027-03-12T19:00", "2027-03-15T17:00"),  # it begins on that weekend
        ("2026-12-31T18:30", "2027-01-01T18:00"),
    ],
)
def test_a_campaign_starts_at_ten_in_los_angeles_on_a_weekday(now, start):
    assert next_start(at(now), **LA) == at(start)


def test_holidays_are_passed_over():
    holidays = {date(2026, 12, 25), date(2026, 12, 28)}
    # one in the morning of the 25th, there
    assert next_start(at("2026-12-25T09:00"), **LA, holidays=holidays) == at(
        "2026-12-29T18:00"
    )
    with pytest.raises(ValueError, match="aware"):
        next_start(datetime(2026, 1, 1), **LA)


@pytest.mark.parametrize(
    ("now", "zone", "hour", "start"),
    [
        # The hour that summer time skips, on a working day: it comes an hour later.
        ("2026-04-23T12:00", "Africa/Cairo", 0, "2026-04-23T22:00"),
        # The hour that comes twice: the first one.
        ("2026-10-29T12:00", "Africa/Cairo", 23, "2026-10-29T20:00"),
        # Half hours, and a date that is another one there.
        ("2026-11-20T20:00", "Asia/Kathmandu", 10, "2026-11-23T04:15"),
        ("2026-11-22T23:30", "Pacific/Kiritimati", 10, "2026-11-23T20:00"),
    ],
)
def test_odd_clocks_still_give_one_start_each_day(now, zone, hour, start):
    assert next_start(at(now), zone=zone, hour=hour) == at(start)


def test_a_start_is_never_in_the_past_and_never_on_a_weekend():
    zone = ZoneInfo("America/Los_Angeles")
    for hours in range(0, 24 * 370, 7):
        now = at("2026-01-01T00:00") + timedelta(hours=hours)
        start = next_start(now, **LA)
        local = start.astimezone(zone)
        assert now <= start <= now + timedelta(days=4)
        assert (local.hour, local.minute) == (10, 0)
        assert local.weekday() < 5
