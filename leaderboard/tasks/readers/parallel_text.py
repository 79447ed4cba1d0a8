"""WMT as plain text: parallel files, one segment per line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    ReleaseReader,
    release_of,
)
from leaderboard.tasks.readers.files import Folder, names_of


class WmtText(ReleaseReader):
    """``ids.txt``, ``source.txt`` and reference files, in the same order.

    The reference is ``reference.A.txt`` (or ``reference.txt``) unless the options list
    others. An empty line in a reference file means that this reference is missing.
    """

    slug = "wmt-text"
    layout = "ids.txt, source.txt, reference.A.txt: one segment per line, same order"
    options: ClassVar[Mapping[str, str]] = {
        "ids": "file of ids",
        "source": "file of source segments",
        "references": "file or list of files of references; [] for none",
    }

    # German originals, English references: newstest as the hub has it
    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        names = {
            "ids": options.get("ids", "ids.txt"),
            "source": options.get("source", "source.txt"),
        }
        ids, sources = (
            folder.lines(folder.beside(names[key])) for key in ("ids", "source")
        )
        _same_length(names["ids"], ids, names["source"], sources)
        streams = []
        for name in names_of(options, "references", [_default_reference(folder)]):
            streams.append(folder.lines(folder.beside(name)))
            _same_length(names["ids"], ids, name, streams[-1])
        instances = []
        for number, (key, source) in enumerate(zip(ids, sources, strict=True)):
            references = [stream[number] for stream in streams if stream[number]]
            if streams and not references:
                raise GenieError(
                    f"Line {number + 1:,} ({key}) has no reference.",
                    code="release-broken",
                    details={"line": number + 1, "id": key},
                )
            instances.append(
                ReleaseInstance(key, {"source": source}, references, source)
            )
        return release_of(instances, folder.read)


def _default_reference(folder: Folder) -> str:
    single = (folder.path / "reference.txt").is_file()
    double = (folder.path / "reference.A.txt").is_file()
    return "reference.txt" if single and not double else "reference.A.txt"


def _same_length(
    left: str, left_lines: list[str], right: str, right_lines: list[str]
) -> None:
    if len(left_lines) != len(right_lines):
        raise GenieError(
            f"{left} has {len(left_lines):,} lines but {right} has "
            f"{len(right_lines):,}; they must have the same number of lines.",
            code="release-broken",
            details={left: len(left_lines), right: len(right_lines)},
        )
