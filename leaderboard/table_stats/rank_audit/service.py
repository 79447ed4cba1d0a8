"""Audit of a stranger's file of scores, within limits and without storing it."""

from typing import IO

from django.http import HttpRequest

from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from genie.lib.serving.uploads import announced, drop
from leaderboard.table_stats.rank_audit.read import MOST_BYTES, read_or_refuse
from leaderboard.table_stats.rank_audit.report import Audit, audit

LIMITS = Limits(cpu_seconds=3, memory_bytes=400 << 20)
# limit of systems, because comparing all pairs needs more memory than the file
MOST_PAIRED = 300
# size of the rest of a multipart body
_ROOM = 1 << 16


def refuse_too_large(request: HttpRequest) -> None:
    """Refuse a body by its announced size, without storing it.

    Raises
    ------
    GenieError
        If it is larger than the largest accepted file of scores.
    """
    if announced(request) > MOST_BYTES + _ROOM:
        drop(request, 2 * MOST_BYTES)
        raise GenieError(
            f"The file is larger than {MOST_BYTES >> 20} MB, the limit here; run "
            "`genie audit_ranks` on your own machine.",
            code="file-too-large",
        )


def audit_file(file: IO[bytes], *, lower_is_better: bool = False) -> Audit:
    """Read and audit a file, with limited time and memory.

    Raises
    ------
    GenieError
        If the file has errors or needs too much of either.
    """
    try:
        scores = call_bounded(read_or_refuse, file, LIMITS)
    except LimitExceeded:
        raise GenieError(
            "Reading this file takes more time or memory than is allowed here; run "
            "`genie audit_ranks` on your own machine.",
            code="bad-scores",
        ) from None
    if isinstance(scores, str):
        raise GenieError(scores, code="bad-scores")
    if len(scores.systems) > MOST_PAIRED:
        raise GenieError(
            f"{len(scores.systems)} systems are more than the {MOST_PAIRED} that are "
            "compared here; run `genie audit_ranks` on your own machine.",
            code="bad-scores",
        )
    return audit(scores, lower_is_better=lower_is_better)
