"""Preferences and ranks as they would be: texts equally long, or with judges’ help."""

from __future__ import annotations
