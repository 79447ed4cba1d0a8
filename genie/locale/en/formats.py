"""Dates in English as everywhere on the site; Django would write "Nov. 22, 2026, 12:14 a.m."."""

from __future__ import annotations

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i"
TIME_FORMAT = "H:i"
