"""Open data: what a task's board rests on, and a way to compute it again."""

from __future__ import annotations

FORMAT = "genie-release-2"
# Releases that can be computed again; the first format had neither comparisons nor
# joint evaluations.
READABLE = ("genie-release-1", FORMAT)
