"""Open data: releases that anybody can download, check and compute again.

`make` writes a release, `gathering` decides what goes in, `rebuilding` computes every
published number again from the release alone. Evaluation cards answer the questions of
the Human Evaluation Datasheet. Workers have pseudonyms that mean nothing elsewhere.

Front door: models; make; queued; rebuilding (public_log, rebuild); views.
"""

FORMAT = "genie-release-3"
