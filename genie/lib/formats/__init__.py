"""Text formats that hostile content cannot break: CSV, LaTeX, conversations."""

from __future__ import annotations
