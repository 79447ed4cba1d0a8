"""Open data: releases for download, checks and recomputation.

`make` writes a release, `gathering` decides on its content, `rebuilding` computes every
published number again from the release alone. Evaluation cards answer the questions of
the Human Evaluation Datasheet. Workers have pseudonyms that are not linked to other
data.

Front door: models; make; queued; rebuilding (public_log, rebuild); report; views.
"""

FORMAT = "genie-release-3"
