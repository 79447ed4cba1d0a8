"""Published tables, recomputed: one file per table, found and not listed."""

from __future__ import annotations
