"""Libraries and models that several metrics run on."""

from __future__ import annotations
