"""Tables of pairs: what their columns hold, and all that they say of systems."""

from __future__ import annotations
