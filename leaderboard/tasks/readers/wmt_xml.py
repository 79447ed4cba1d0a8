"""WMT's XML since 2021: documents with source, references and hypotheses."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from xml.parsers import expat

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    ReleaseReader,
    release_of,
)
from leaderboard.tasks.readers.files import Folder, names_of

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
        folder = Folder(path)
        file = folder.find(options.get("file", "*.xml"))
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
