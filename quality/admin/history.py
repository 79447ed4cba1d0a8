"""Rows that nobody edits: what was measured and decided stays as it was."""

from __future__ import annotations

from genie.lib.read_only_admin import ReadOnly as ReadOnlyAdmin

__all__ = ["ReadOnlyAdmin"]
