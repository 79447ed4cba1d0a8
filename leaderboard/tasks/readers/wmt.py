"""Releases of WMT: SGML, XML, and parallel texts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from xml.parsers import expat

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import (
    Folder,
    Release,
    ReleaseInstance,
    ReleaseReader,
    names_of,
    release_of,
)


# WMT's SGML up to 2020: a source file and a reference file.
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


# WMT's XML since 2021: documents with source, references and hypotheses.
_CHUNK = 1 << 16


class WmtXml(ReleaseReader):
    """``<doc id origlang>`` with ``<src>``, ``<ref translator>``, ``<p>``, ``<seg id>``.

    An instance's id is ``doc.seg``. Documents with a ``testsuite`` attribute are not
    part of the test set. Document types and entities are refused, so nothing outside
    the file is read and nothing in it grows.
    """

    slug = "wmt-xml"
    layout = "*.xml: doc, src, ref (translator), p, seg"
    options: ClassVar[Mapping[str, str]] = {
        "file": "name of the file (default: the only *.xml)",
        "translators": "translator whose references to use (default: A, or the only one)",
        "origlang": "only documents first written in this language",
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        file = Folder(path).find(options.get("file", "*.xml"))
        segments, digest = _parse(file, options.get("origlang"))
        translators = names_of(options, "translators", _default(segments))
        instances = []
        for key, segment in segments.items():
            if segment.source is None:
                _broken(file, f"segment {key} has a reference but no source")
            missing = [name for name in translators if name not in segment.references]
            if missing:
                _broken(file, f"segment {key} has no reference by {missing[0]}")
            references = [segment.references[name] for name in translators]
            instances.append(
                ReleaseInstance(
                    key, {"source": segment.source}, references, segment.source
                )
            )
        return release_of(instances, {file.name: digest})


@dataclass
class _Segment:
    source: str | None = None
    references: dict[str, str] = field(default_factory=dict)


def _default(segments: Mapping[str, _Segment]) -> list[str]:
    names = list(dict.fromkeys(n for s in segments.values() for n in s.references))
    return ["A"] if "A" in names else names[:1]


def _broken(file: Path, reason: str, line: int | None = None) -> NoReturn:
    place = f"{file.name}, line {line:,}" if line else file.name
    raise GenieError(
        f"{place}: {reason}.",
        code="release-broken",
        details={"file": file.name, "line": line},
    )


def _parse(file: Path, origlang: str | None) -> tuple[dict[str, _Segment], str]:
    handler = _Handler(file, origlang)
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        try:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                handler.parser.Parse(chunk, False)
            handler.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            _broken(file, f"it is not valid XML: {reason}", error.lineno)
        except (ValueError, LookupError):  # an unknown encoding
            _broken(file, "it is not valid XML: it names an unknown encoding", 1)
    return handler.segments, digest.hexdigest()


class _Handler:
    def __init__(self, file: Path, origlang: str | None) -> None:
        self.segments: dict[str, _Segment] = {}
        self._file = file
        self._origlang = origlang
        self._document = ""
        self._is_read = False
        # the side of the document: "" for the source, a translator, None for neither
        self._side: str | None = None
        self._segment: str | None = None
        self._text: list[str] = []
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        # against entities that expand without end, or read files of this machine
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse

    def _refuse(self, *_: object) -> NoReturn:
        self._fail("document types and entities are not read")

    def _fail(self, reason: str) -> NoReturn:
        _broken(self._file, reason, self.parser.CurrentLineNumber)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "doc":
            self._document = attributes.get("id") or self._fail("a doc has no id")
            language = attributes.get("origlang")
            self._is_read = "testsuite" not in attributes and (
                self._origlang is None or language == self._origlang
            )
        elif name == "src":
            self._side = ""
        elif name == "ref":
            self._side = attributes.get("translator") or "A"
        elif name == "hyp":
            self._side = None
        elif name == "seg" and self._is_read and self._side is not None:
            number = attributes.get("id") or self._fail("a seg has no id")
            self._segment = f"{self._document}.{number}"
            self._text = []

    def _characters(self, text: str) -> None:
        if self._segment is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if name in {"src", "ref", "hyp"}:
            self._side = None
        elif name == "seg" and self._segment is not None:
            self._keep(self._segment, "".join(self._text).strip())
            self._segment = None

    def _keep(self, key: str, text: str) -> None:
        segment = self.segments.setdefault(key, _Segment())
        if self._side == "":
            if segment.source is not None:
                self._fail(f"segment {key} occurs twice")
            segment.source = text
        elif self._side is not None:
            segment.references[self._side] = text


# WMT as plain text: parallel files, one segment per line.
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
