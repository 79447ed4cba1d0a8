"""Uploaded files in one stream, read at a bounded cost in a separate process."""

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.layout import Choice, all_layouts
from leaderboard.imports.readers.read import SURE_ENOUGH, guess, read
from leaderboard.imports.readers.sources import Source

MOST_PACKED = 2_000
# Unpacked archives are passed to the job, which has less memory than the reader.
MOST_UNPACKED = 500_000_000


@dataclass(frozen=True)
class Found:
    """The likely layouts of files, and their ratings if they can be read.

    `layouts` has slug, title, surety and reason of each, the surest first. `layout` is
    the chosen or the surest one, and `choices` are questions about it. `error` is a
    sentence that explains missing `judgments`. The `sources` are unpacked.
    """

    layouts: list[tuple[str, str, float, str]] = field(default_factory=list)
    layout: str = ""
    choices: tuple[Choice, ...] = ()
    judgments: Judgments | None = None
    sources: list[Source] = field(default_factory=list)
    error: str = ""


def find(
    stream: IO[bytes],
    files: Sequence[tuple[str, int]],
    layout: str,
    choices: Mapping[str, str],
) -> Found:
    """Read files that follow each other in a stream.

    `files` are names and sizes in bytes; `layout` "" is the likeliest one. Errors of
    the files are in the result; none is raised.
    """
    try:
        sources = [one for name, n in files for one in _unpacked(name, stream.read(n))]
        looks, titles = guess(sources), all_layouts()
    except GenieError as error:
        return Found(error=error.message)
    likely = [
        (slug, titles[slug].title, look.surety, look.because)
        for slug, look in looks.items()
    ]
    chosen = layout or next((s for s, _, sure, _ in likely if sure >= SURE_ENOUGH), "")
    asked = looks[chosen].choices if chosen in looks else ()
    try:
        judgments = read(sources, layout=chosen, choices=choices)
    except GenieError as refused:
        return Found(likely, chosen, asked, None, sources, refused.message)
    return Found(likely, chosen, asked, judgments, sources)


def _unpacked(name: str, data: bytes) -> Iterator[Source]:
    """Yield a file, or the files of an archive; gzip files stay packed.

    Raises "damaged-file" or "too-large", with the archive's name.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)) or name.lower().endswith(".xlsx"):
        yield Source(name, data)
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            inside = [one for one in packed.infolist() if not one.is_dir()]
            whole = sum(one.file_size for one in inside)
            if len(inside) > MOST_PACKED or whole > MOST_UNPACKED:
                raise GenieError(
                    f"{name} holds more than {MOST_PACKED:,} files or {MOST_UNPACKED:,} "
                    "bytes; split it.",
                    code="too-large",
                )
            for one in inside:
                # files that macOS adds
                if not one.filename.startswith("__MACOSX/"):
                    yield Source(one.filename, packed.read(one))
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise GenieError(
            f"{name} cannot be unpacked ({error}): send it again.", code="damaged-file"
        ) from error
