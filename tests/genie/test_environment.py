"""A setting that cannot work is refused at the start, not when money is set aside."""

import os
import re
import runpy
from functools import partial

import pytest
from django.conf import settings

from genie.lib import env


@pytest.mark.parametrize("production", ["no", "yes"])
def test_defaults_are_those_of_the_documentation(monkeypatch, tmp_path, production):
    """Read the settings as a site without any variable, and compare each one read."""
    for name in os.environ:
        if name.startswith("GENIE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GENIE_PRODUCTION", production)
    monkeypatch.setenv("GENIE_SECRET_KEY", "only for tests")
    monkeypatch.chdir(tmp_path)
    read = {}

    def note(real, name, *args, **options):
        read[name] = real(name, *args, **options)
        return read[name]

    for kind in ("text", "flag", "integer", "percent"):
        monkeypatch.setattr(env, kind, partial(note, getattr(env, kind)))
    made = runpy.run_path(str(settings.BASE_DIR / "genie/settings.py"))
    assert made["GENIE"]["MAX_UPLOAD_BYTES"] == 100 * 1024**2
    text = (settings.BASE_DIR / "docs/settings.md").read_text("utf-8")
    documented = {}
    for cell, default in re.findall(r"^\| (`GENIE_.*?) \| (.*?) \|", text, re.M):
        names, values = re.findall(r"`(GENIE_\w+)`", cell), default.split(", ")
        documented |= zip(names, values if values[1:] else values * 9, strict=False)
    del read["GENIE_PRODUCTION"]
    for name, value in read.items():
        if isinstance(value, bool):
            assert documented[name] in (["yes"] if value else ["no", "none"]), name
        elif isinstance(value, int | float):
            percent = 100 if name.endswith("_PERCENT") else 1
            assert str(round(value * percent)) == documented[name], name
    assert len(read) > 60


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
    options = settings._database()["OPTIONS"]
    assert (options["connect_timeout"], options["keepalives_idle"]) == (5, 10)
    assert {"jit=off", "tcp_keepalives_idle=10"} <= set(options["options"].split())
    # what the address says counts more
    monkeypatch.setenv("DATABASE_URL", f"{address}?connect_timeout=20")
    assert str(settings._database()["OPTIONS"]["connect_timeout"]) == "20"
