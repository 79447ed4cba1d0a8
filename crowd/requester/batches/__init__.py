"""Tables that are posted as HITs, for requesters who write no programs."""

from __future__ import annotations
