"""Mechanical Turk's protocol for the adapter `crowd.platforms.mturk`."""

from __future__ import annotations
