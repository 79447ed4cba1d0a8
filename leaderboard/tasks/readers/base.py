"""The common form of official releases of test sets."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from genie.lib.extension import discover
from leaderboard.files import File, only_file, refuse
from leaderboard.tables import is_binary, json_rows, only_sound, read_sound_table

_LONGEST_ID = 200


@dataclass(frozen=True)
class ReleaseInstance:
    """One test input; `id` is unique in the release, at most 200 characters.

    `fields` are the texts that people and systems see, by the release's names and in
    its order. `source` is the field that a prediction could be copied from; empty:
    none.
    """

    id: str
    fields: dict[str, str]
    references: list[str] = field(default_factory=list)
    source: str = ""


@dataclass(frozen=True)
class Release:
    """A benchmark's test set as it was released.

    `sha256` is the hash of ids, fields and references in canonical JSON: it does not
    depend on the layout of the files. `files` maps names without folders to their
    sha256, or to a library's identifier of its data.
    """

    instances: list[ReleaseInstance]
    sha256: str
    files: dict[str, str]


class ReleaseReader(ABC):
    """Reads one layout; every subclass in a module of this package is found."""

    slug: str
    # one sentence: the files and their fields
    layout: ClassVar[str]
    # its options with their descriptions
    options: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        """Read a release.

        Parameters
        ----------
        path : Path
            The folder (or file) of the release.
        options : mapping
            From the task's ``[release] options``; keys of `options` only.

        Raises
        ------
        GenieError
            With file, line and field, if something is missing or malformed.
        """


def all_readers() -> dict[str, type[ReleaseReader]]:
    """Return the layouts of this package by slug."""
    return discover("leaderboard.tasks.readers", ReleaseReader)


def release_of(instances: Iterable[ReleaseInstance], files: dict[str, str]) -> Release:
    """Check instances and create a release with their hash.

    Raises
    ------
    GenieError
        If there are none, if an id is empty, too long or not unique, or if a text has
        characters that a database cannot store (NUL, half a surrogate pair).

    Examples
    --------
    >>> release_of([ReleaseInstance("q1", {"question": "Why?"})], {}).sha256[:8]
    '79f4969b'
    """
    by_id: dict[str, ReleaseInstance] = {}
    for instance in instances:
        _check(instance, by_id)
        by_id[instance.id] = instance
    if not by_id:
        raise GenieError(
            f"The release contains no instances (files: {', '.join(files) or 'none'}).",
            code="release-empty",
        )
    canonical = [
        [instance.id, instance.fields, instance.references]
        for instance in by_id.values()
    ]
    # ASCII and sorted keys: the same bytes on every platform and version
    text = json.dumps(canonical, ensure_ascii=True, sort_keys=True)
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return Release(list(by_id.values()), digest, files)


def _check(instance: ReleaseInstance, by_id: Mapping[str, ReleaseInstance]) -> None:
    if not instance.id.strip() or len(instance.id) > _LONGEST_ID:
        raise GenieError(
            f"An instance's id must have 1 to {_LONGEST_ID} characters, "
            f"not {instance.id[:40]!r}.",
            code="release-broken",
        )
    if instance.id in by_id:
        raise GenieError(
            f"The id {instance.id!r} occurs twice in the release.",
            code="release-broken",
            details={"id": instance.id},
        )
    for text in (instance.id, *instance.fields.values(), *instance.references):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise GenieError(
                f"Instance {instance.id!r} contains a character that cannot be "
                "stored (NUL or an unpaired surrogate).",
                code="release-broken",
                details={"id": instance.id},
            )


# The only entry to official releases.
def read_release(
    kind: str, path: Path | str, options: Mapping[str, Any] | None = None
) -> Release:
    """Read a benchmark's official release.

    Parameters
    ----------
    kind : str
        Slug of the layout, as in the task's ``[release] reader``.

    Raises
    ------
    GenieError
        ``unknown-reader``, ``unknown-option``, ``release-missing`` (a file is not
        there), ``release-broken`` (with file, line and field), ``release-empty``, or a
        code of the reader of tables.

    Examples
    --------
    >>> read_release("no-such-layout", ".")
    Traceback (most recent call last):
    ...
    genie.lib.errors.GenieError: There is no reader 'no-such-layout', only anlg-jsonl, ...
    """
    readers = all_readers()
    if kind not in readers:
        raise GenieError(
            f"There is no reader {kind!r}, only {', '.join(readers)}.",
            code="unknown-reader",
        )
    chosen_options = dict(options or {})
    unknown = sorted(chosen_options.keys() - readers[kind].options.keys())
    if unknown:
        known = ", ".join(readers[kind].options)
        raise GenieError(
            f"The reader {kind} has no option {unknown[0]!r}, only {known}.",
            code="unknown-option",
        )
    return readers[kind]().read(Path(path), chosen_options)


# Find and read a release's files, with errors that state file, line and field.
_LONGEST_NAME = 255


@dataclass
class Folder:
    """A release's folder or single file, with the hashes of everything read from it."""

    path: Path
    read: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise GenieError(
                f"There is no file or folder {self.path}.", code="release-missing"
            )

    def find(self, *patterns: str) -> Path:
        """Return the first file that matches a pattern; the path if it is a file."""
        if self.path.is_file():
            return self.path
        for pattern in patterns:
            for path in sorted(self.path.glob(_inside(pattern))):
                if path.is_file():
                    return path
        raise GenieError(
            f"There is no {' or '.join(map(str, patterns))} in {self.path}.",
            code="release-missing",
            details={"expected": list(patterns)},
        )

    def beside(self, name: str) -> Path:
        """Return a file of the folder (of the file's folder if it is a file)."""
        folder = self.path if self.path.is_dir() else self.path.parent
        name = _inside(name)
        if not (folder / name).is_file():
            raise GenieError(
                f"There is no {name} in {folder}.",
                code="release-missing",
                details={"expected": [name]},
            )
        return folder / name

    def file(self, path: Path) -> File:
        with path.open("rb") as stream:
            self.read[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
        return only_file(path.name, lambda: path.open("rb"))

    def text(self, path: Path) -> str:
        with self.file(path).text() as text:
            return text.read()

    def lines(self, path: Path) -> list[str]:
        return list(self.file(path).texts())

    def rows(self, path: Path) -> Iterator[Row]:
        """Read JSON Lines, a JSON list or object from id to row, or another table."""
        file = self.file(path)
        found = None if is_binary(file) else json_rows(file)
        if not found:
            for one in read_sound_table(file).rows:
                yield Row(one.cells, file.name, one.place)
            return
        for number, value in only_sound(found[1]):
            row = Row(value, file.name, f"{found[0]} {number:,}")
            if not isinstance(value, dict):
                raise row.broken("it is not a JSON object")
            yield row


@dataclass(frozen=True)
class Row:
    """One row of a file, with errors that state its place."""

    values: Mapping[str, Any]
    file: str
    place: str

    def broken(self, reason: str) -> GenieError:
        return refuse("release-broken", reason, self.file, self.place)

    def text(self, *names: str) -> str:
        """Return the first of some fields that is present."""
        for name in names:
            if name in self.values:
                return self._text(name, self.values[name])
        raise self.broken(f"the field {' or '.join(names)} is missing")

    def texts(self, name: str) -> list[str]:
        """Return a field with a text or a list of texts; empty if it is absent."""
        value = self.values.get(name)
        if value is None:
            return []
        return [
            self._text(name, text)
            for text in (value if isinstance(value, list) else [value])
        ]

    def _text(self, name: str, value: object) -> str:
        if isinstance(value, str):
            return value
        raise self.broken(f"the field {name} is not a string")


def _inside(name: object) -> str:
    """Refuse a name that leads out of the release: a stranger may have written it."""
    path = PurePath(text := str(name))
    outside = path.is_absolute() or {"..", "**"} & {*path.parts}
    # no file system has such long names, and looking one up fails
    unlike = (
        not path.parts
        or "\0" in text
        or len(text.encode(errors="replace")) > _LONGEST_NAME
    )
    if outside or unlike:
        raise GenieError(
            f"The name {text[:80]!r} is not the name of a file in the release.",
            code="release-broken",
        )
    return text


def names_of(options: Mapping[str, Any], key: str, default: Sequence[str]) -> list[str]:
    """Return an option that is a name or a list of names, as a list.

    Examples
    --------
    >>> names_of({"references": "b.txt"}, "references", ["a.txt"])
    ['b.txt']
    """
    value = options.get(key, default)
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence):
        return [str(name) for name in value]
    raise GenieError(
        f"The option {key} is neither a name nor a list of names.",
        code="release-broken",
    )
