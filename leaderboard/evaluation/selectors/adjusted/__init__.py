"""Preferences as they would be, were texts equally long and laid out."""

from __future__ import annotations
