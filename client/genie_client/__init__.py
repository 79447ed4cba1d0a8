"""A client for Genie leaderboards: hand predictions in, follow them, read boards."""

from __future__ import annotations

from genie_client.client import Client
from genie_client.problem import Problem
from genie_client.version import VERSION

__all__ = ["Client", "Problem"]
__version__ = VERSION
