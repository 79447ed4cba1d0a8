"""Words and word lists that several metrics share."""

from __future__ import annotations
