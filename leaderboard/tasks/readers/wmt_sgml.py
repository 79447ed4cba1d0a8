"""WMT's SGML up to 2020: a source file and a reference file."""

from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    ReleaseReader,
    release_of,
)
from leaderboard.tasks.readers.files import Folder


class WmtSgml(ReleaseReader):
    """``*-src.*.sgm`` and ``*-ref.*.sgm``: ``<doc docid>`` with ``<seg id>``.

    An instance's id is ``doc.seg``. With the option ``origlang``, documents first
    written in a different language are left out.
    """

    slug = "wmt-sgml"
    layout = "*-src.<language>.sgm and *-ref.<language>.sgm: doc (docid), seg (id)"
    options: ClassVar[Mapping[str, str]] = {
        "source": "name of the source file (default: the only *-src*.sgm)",
        "reference": "name of the reference file (default: the only *-ref*.sgm)",
        "origlang": "only documents first written in this language",
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        if path.is_file():
            raise GenieError(
                f"{path.name} is one file; give the folder with source and reference.",
                code="release-missing",
            )
        files = [
            folder.find(options.get("source", "*-src*.sgm*")),
            folder.find(options.get("reference", "*-ref*.sgm*")),
        ]
        sources, references = (
            _segments(folder.text(file), file.name, options.get("origlang"))
            for file in files
        )
        if sources.keys() != references.keys():
            lonely = sorted(sources.keys() ^ references.keys())
            raise GenieError(
                f"{len(lonely):,} segments are in only one of {files[0].name} "
                f"and {files[1].name}; the first is {lonely[0]}.",
                code="release-broken",
                details={"ids": lonely[:20]},
            )
        return release_of(
            (
                ReleaseInstance(key, {"source": text}, [references[key]], text)
                for key, text in sources.items()
            ),
            folder.read,
        )


def _segments(text: str, file: str, origlang: str | None) -> dict[str, str]:
    parser = _Parser(file, origlang)
    try:
        parser.feed(text)
        parser.close()
    except AssertionError:  # HTMLParser raises this if <![ begins no section it knows
        parser.fail("a marked section cannot be read")
    return parser.segments


class _Parser(HTMLParser):
    """WMT's SGML is close enough to HTML: tags, attributes, five entities."""

    def __init__(self, file: str, origlang: str | None) -> None:
        super().__init__(convert_charrefs=True)
        self.segments: dict[str, str] = {}
        self._file = file
        self._origlang = origlang
        self._document = ""
        self._is_read = False
        self._key: str | None = None
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "doc":
            self._document = values.get("docid") or self.fail("a doc has no docid")
            language = values.get("origlang")
            self._is_read = self._origlang is None or language == self._origlang
        elif tag == "seg" and self._is_read:
            number = values.get("id") or self.fail("a seg has no id")
            self._key = f"{self._document}.{number}"
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._key is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "seg" and self._key is not None:
            if self._key in self.segments:
                self.fail(f"segment {self._key} occurs twice")
            self.segments[self._key] = "".join(self._text).strip()
            self._key = None

    def fail(self, reason: str) -> str:
        line = self.getpos()[0]
        raise GenieError(
            f"{self._file}, line {line:,}: {reason}.",
            code="release-broken",
            details={"file": self._file, "line": line},
        )
