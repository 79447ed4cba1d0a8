"""Open data: releases that anybody can download, check and compute again.

`make` writes a release, `gathering` decides what goes in, `rebuilding` computes every
published number again from the release alone. Evaluation cards answer the questions of
the Human Evaluation Datasheet. Workers have pseudonyms that mean nothing elsewhere.

Front door: models; make; rebuilding (rebuild); views.
"""

from __future__ import annotations

FORMAT = "genie-release-2"
# Releases that can be computed again; the first format had neither comparisons nor
# joint evaluations.
READABLE = ("genie-release-1", FORMAT)
