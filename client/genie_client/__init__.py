"""A client for Genie leaderboards: hand predictions in, follow them, read boards."""

from __future__ import annotations

from genie_client.client import Client
from genie_client.problem import Problem

__all__ = ["Client", "Problem"]
__version__ = "0.1.0"
