"""Open data: what a task's board rests on, and a way to compute it again.

`make.py` writes a folder from the database, by way of `gather*.py`; `rebuild*.py`
reads such a folder alone and recomputes every published number, so it must never query.
A field that is added goes into both, and a field that changes its meaning needs a new
format.
"""

from __future__ import annotations

FORMAT = "genie-release-2"
# Releases that can be computed again; the first format had neither comparisons nor
# joint evaluations.
READABLE = ("genie-release-1", FORMAT)
