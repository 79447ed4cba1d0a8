"""A setting that cannot work is refused at the start, not when money is set aside."""

import pytest

from genie.lib import env


@pytest.mark.parametrize("value", ["24", "-1", "ten", "1.5"])
def test_an_hour_is_one_of_the_day(monkeypatch, value):
    monkeypatch.setenv("GENIE_X", value)
    with pytest.raises(env.ConfigurationError, match="GENIE_X must be"):
        env.integer("GENIE_X", 10, maximum=23)


@pytest.mark.parametrize("value", ["0", "23"])
def test_the_ends_of_the_range_are_in_it(monkeypatch, value):
    monkeypatch.setenv("GENIE_X", value)
    assert env.integer("GENIE_X", 10, maximum=23) == int(value)


@pytest.mark.parametrize("value", ["Mars/Olympus", "../etc/passwd", "/etc", "PST8XX!"])
def test_a_zone_that_is_none_is_refused_in_words(monkeypatch, value):
    monkeypatch.setenv("GENIE_X", value)
    with pytest.raises(env.ConfigurationError, match="must be a time zone"):
        env.zone("GENIE_X", "UTC")


def test_good_zones_and_holidays_are_taken(monkeypatch):
    monkeypatch.setenv("GENIE_X", "Asia/Kathmandu")
    assert env.zone("GENIE_X", "UTC") == "Asia/Kathmandu"
    monkeypatch.setenv("GENIE_X", " 2026-12-25 , 2026-12-26,")
    assert env.dates("GENIE_X") == ["2026-12-25", "2026-12-26"]


@pytest.mark.parametrize("value", ["25.12.2026", "2026-02-30", "2026-12-25;2026-12-26"])
def test_holidays_are_dates(monkeypatch, value):
    monkeypatch.setenv("GENIE_X", f"2026-01-01, {value}")
    with pytest.raises(env.ConfigurationError, match="must be dates"):
        env.dates("GENIE_X")


def test_postgresql_is_asked_to_give_up_soon_and_to_compile_nothing(monkeypatch):
    from genie import settings

    address = "postgres://genie@db.example/genie"
    monkeypatch.setenv("DATABASE_URL", address)
    assert settings._database()["OPTIONS"] == {
        "connect_timeout": 5,
        "options": "-c jit=off",
    }
    # what the address says counts more
    monkeypatch.setenv("DATABASE_URL", f"{address}?connect_timeout=20")
    assert str(settings._database()["OPTIONS"]["connect_timeout"]) == "20"
