"""The client's version, and the one of the API that it is written for."""

from __future__ import annotations

VERSION = "1.0.0"
API = "1.1"
