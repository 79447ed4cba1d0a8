"""The wire: requests in AWS JSON 1.1 over HTTP, verified and dispatched."""

from __future__ import annotations
