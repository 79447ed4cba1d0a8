"""Times in Hindi, where Django says only how a day is written."""

from __future__ import annotations

DATETIME_FORMAT = "j F Y, H:i"
TIME_FORMAT = "H:i"
