"""Text formats that hostile content cannot break: CSV for spreadsheets, LaTeX."""

from __future__ import annotations
