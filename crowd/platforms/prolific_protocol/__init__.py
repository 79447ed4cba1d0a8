"""Prolific's protocol for the adapter `crowd.platforms.prolific`."""

from __future__ import annotations
