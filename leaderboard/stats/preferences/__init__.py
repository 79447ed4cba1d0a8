"""Preferences and what else than quality may move them: style of the texts, and side."""

from __future__ import annotations
