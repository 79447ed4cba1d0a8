"""Games between systems: beliefs updated one game after the other, in many orders."""

from __future__ import annotations
