"""Uploaded files in one stream, read at a bounded cost in a separate process."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, Any

from genie.lib.errors import GenieError
from leaderboard.files import File, Limits, unpack
from leaderboard.imports.readers.columns import Proposal
from leaderboard.imports.readers.families import Column
from leaderboard.imports.readers.layout import all_layouts
from leaderboard.imports.readers.mapping import ROLES
from leaderboard.imports.readers.read import layout_of, propose

_EXAMPLES = re.compile(r" and (values such as|few words:) .*", re.DOTALL)
# Unpacked archives are passed to the job, which has less memory than the reader.
LIMITS = Limits(n_bytes=500_000_000)


@dataclass(frozen=True)
class Found:
    """What files hold, as their `layout`.

    `error` is a sentence that explains missing judgments. The `files` are unpacked.
    """

    layout: str = ""
    proposal: Proposal = field(default_factory=lambda: Proposal([]))
    files: list[File] = field(default_factory=list)
    error: str = ""


def short_reason(column: Column) -> str:
    """Return the reason of a role without the examples, which are shown beside it."""
    return _EXAMPLES.sub("", column.reason)


def find(
    stream: IO[bytes],
    files: Sequence[tuple[str, int]],
    layout: str,
    choices: Mapping[str, Any],
) -> Found:
    """Read files that follow each other in a stream.

    `files` are names and sizes in bytes; `layout` "" is the likeliest one. Errors of
    the files are in the result, with the columns as far as they can be read; none is
    raised.
    """
    unpacked: list[File] = []
    try:
        for name, n in files:
            unpacked += unpack(name, partial(io.BytesIO, stream.read(n)), LIMITS)
        layout = layout or layout_of(unpacked)
        return Found(
            layout, propose(unpacked, layout=layout, choices=choices), unpacked
        )
    except GenieError as refused:
        error = refused.message
    if layout in (formats := all_layouts()):
        found = Proposal([], list(formats[layout].look(unpacked).choices))
        return Found(layout, found, unpacked, error)
    # choices that no longer fit still leave a page with the columns
    for kept in ({k: v for k, v in choices.items() if k in ROLES}, {}):
        try:
            found = propose(unpacked, layout=layout, choices=kept)
        except GenieError:
            continue
        return Found(layout, replace(found, judgments=None), unpacked, error)
    return Found(layout, files=unpacked, error=error)
