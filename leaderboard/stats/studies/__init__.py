"""Simulation studies: which design or plan gives the steadiest score for its cost."""

from __future__ import annotations
