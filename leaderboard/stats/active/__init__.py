"""Which pairs of systems people are asked about next, and what their answers decide."""

from __future__ import annotations
