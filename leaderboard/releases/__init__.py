"""Open data: what a task's board rests on, and a way to compute it again."""

from __future__ import annotations

FORMAT = "genie-release-1"
