"""The common form of official releases of test sets."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from genie.lib.extension import discover

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
