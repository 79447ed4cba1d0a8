"""The protocol's tables and checks: operations, names, limits, signatures, XML."""

from __future__ import annotations
