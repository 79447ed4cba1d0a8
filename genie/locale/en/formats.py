"""Dates in English as everywhere on the site; Django would write "Nov. 22, 2026, 12:14 a.m."."""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i"
TIME_FORMAT = "H:i"
