"""The official releases of αNLG, ARC-DA and XSum, a reader each."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from genie.lib.errors import GenieError
from leaderboard.tasks.readers.base import (
    Folder,
    Release,
    ReleaseInstance,
    ReleaseReader,
    Row,
    release_of,
)


class Anlg(ReleaseReader):
    """One object a line: ``story_id``, ``obs1``, ``obs2`` and hypotheses.

    Hypotheses are ``hyps`` (list), ``hyp`` or ``hypothesis`` (one a line), or ``hyp1``
    and ``hyp2``. Of the last two, the labels file (``1`` or ``2`` a line) or the field
    ``label`` selects the plausible one. A story on several lines is one instance with
    several references.
    """

    slug = "anlg-jsonl"
    layout = "test.jsonl: story_id, obs1, obs2, hyps (or hyp1, hyp2 and a labels file)"
    options: ClassVar[Mapping[str, str]] = {
        "split": "train, dev or test (default)",
        "labels": "name of the labels file (default: <split>-labels.lst if there)",
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        split = options.get("split", "test")
        rows = list(folder.rows(folder.find(f"{split}.jsonl", f"*{split}*.jsonl")))
        labels = _labels(folder, options.get("labels"), split, len(rows))
        stories: dict[str, ReleaseInstance] = {}
        for number, row in enumerate(rows):
            label = labels[number] if labels else row.values.get("label")
            _add(stories, row, _hypotheses(row, label))
        return release_of(stories.values(), folder.read)


def _labels(folder: Folder, name: str | None, split: str, n_rows: int) -> list[str]:
    if name is None:
        base = folder.path if folder.path.is_dir() else folder.path.parent
        label_files = sorted(base.glob(f"{split}-labels.*"))
        if not label_files:
            return []
        file = label_files[0]
    else:
        file = folder.beside(name)
    labels = [line.strip() for line in folder.lines(file)]
    if len(labels) != n_rows:
        raise GenieError(
            f"{file.name} has {len(labels):,} labels for {n_rows:,} stories.",
            code="release-broken",
            details={"labels": len(labels), "stories": n_rows},
        )
    return labels


def _hypotheses(row: Row, label: object) -> list[str]:
    for name in ("hyps", "hyp", "hypothesis"):
        if name in row.values:
            return row.texts(name)
    if "hyp1" not in row.values:
        return []
    if str(label) not in {"1", "2"}:
        raise row.broken(f"the label must be 1 or 2, not {label!r}")
    return [row.text(f"hyp{label}")]


def _add(stories: dict[str, ReleaseInstance], row: Row, hypotheses: list[str]) -> None:
    key = row.text("story_id")
    fields = {"obs1": row.text("obs1"), "obs2": row.text("obs2")}
    story = stories.setdefault(key, ReleaseInstance(key, fields, []))
    # With two inputs under one id, people would rate a mixture of both.
    if story.fields != fields:
        raise row.broken(f"story {key} already occurs with different observations")
    story.references.extend(text for text in hypotheses if text not in story.references)


class _Rows(ReleaseReader):
    names: ClassVar[tuple[str, ...]] = ("{}.jsonl", "*{}*.jsonl")

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        split = options.get("split", "test")
        file = folder.find(*(name.replace("{}", str(split)) for name in self.names))
        instances = [self.instance(row, options) for row in folder.rows(file)]
        return release_of(instances, folder.read)

    @abstractmethod
    def instance(self, row: Row, options: Mapping[str, Any]) -> ReleaseInstance: ...


# ARC-DA: questions with several direct answers, JSONL.
class ArcDa(_Rows):
    """One object a line: ``question_id``, ``question``, ``answers`` (several)."""

    slug = "arc-da-jsonl"
    layout = "test.jsonl: question_id, question, answers (list of strings)"
    options: ClassVar[Mapping[str, str]] = {"split": "train, dev or test (default)"}

    def instance(self, row: Row, options: Mapping[str, Any]) -> ReleaseInstance:
        question, answers = row.text("question"), row.texts("answers")
        if "answers" not in row.values:
            raise row.broken("the field answers is missing")
        key = row.text("question_id")
        return ReleaseInstance(key, {"question": question}, answers, question)


# XSum: news articles with one-sentence summaries, JSON or JSONL.
class XSum(_Rows):
    """Objects with ``id``, ``document`` and ``summary``.

    As JSONL, as a JSON list, or as a JSON object from id to the other two.
    """

    slug = "xsum"
    layout = "test.json or test.jsonl: id, document, summary"
    options: ClassVar[Mapping[str, str]] = {
        "split": "train, validation or test (default)"
    }
    names = ("{}.jsonl", "{}.json", "*{}*.jsonl", "*{}*.json")

    def instance(self, row: Row, options: Mapping[str, Any]) -> ReleaseInstance:
        document, key = row.text("document"), row.text("id", "bbcid")
        return ReleaseInstance(
            key, {"document": document}, [row.text("summary")], document
        )


# Genie's layout, for the demonstration tasks and for new tasks.
class DemoJsonl(_Rows):
    """One object a line: ``id``, ``fields`` (name to text), ``references``."""

    slug = "demo-jsonl"
    layout = "test.jsonl: id, fields (object), references (list of texts)"
    options: ClassVar[Mapping[str, str]] = {
        "split": "name of the file without .jsonl (default: test)",
        "source": "which field is the source (default: the first)",
    }
    names = ("{}.jsonl",)

    def instance(self, row: Row, options: Mapping[str, Any]) -> ReleaseInstance:
        fields = row.values.get("fields")
        if not isinstance(fields, dict) or not fields:
            raise row.broken("the field fields must be an object with strings")
        texts = Row(fields, row.file, row.place)
        found = {str(key): texts.text(key) for key in fields}
        source = str(options.get("source", next(iter(found))))
        if source and source not in found:
            raise row.broken(f"the field {source} is missing")
        key, references = row.text("id"), row.texts("references")
        return ReleaseInstance(key, found, references, found.get(source, ""))
