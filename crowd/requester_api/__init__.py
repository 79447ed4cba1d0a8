"""The Mechanical Turk Requester API, version 2017-01-17, over our own workers."""

from __future__ import annotations
