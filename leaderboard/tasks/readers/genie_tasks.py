"""The official releases of αNLG, ARC-DA and XSum, a reader each."""

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
        file = folder.find(f"{split}.jsonl", f"*{split}*.jsonl")
        rows = list(folder.rows(file))
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


# ARC-DA: questions with several direct answers, JSONL.
class ArcDa(ReleaseReader):
    """One object a line: ``question_id``, ``question``, ``answers`` (several)."""

    slug = "arc-da-jsonl"
    layout = "test.jsonl: question_id, question, answers (list of strings)"
    options: ClassVar[Mapping[str, str]] = {"split": "train, dev or test (default)"}

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        split = options.get("split", "test")
        file = folder.find(f"{split}.jsonl", f"*{split}*.jsonl")
        instances = []
        for row in folder.rows(file):
            question = row.text("question")
            answers = row.texts("answers")
            if "answers" not in row.values:
                raise row.broken("the field answers is missing")
            instances.append(
                ReleaseInstance(
                    row.text("question_id"), {"question": question}, answers, question
                )
            )
        return release_of(instances, folder.read)


# XSum: news articles with one-sentence summaries, JSON or JSONL.
class XSum(ReleaseReader):
    """Objects with ``id``, ``document`` and ``summary``.

    As JSONL, as a JSON list, or as a JSON object from id to the other two.
    """

    slug = "xsum"
    layout = "test.json or test.jsonl: id, document, summary"
    options: ClassVar[Mapping[str, str]] = {
        "split": "train, validation or test (default)"
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        split = options.get("split", "test")
        file = folder.find(
            f"{split}.jsonl", f"{split}.json", f"*{split}*.jsonl", f"*{split}*.json"
        )
        instances = []
        for row in folder.rows(file):
            document = row.text("document")
            instances.append(
                ReleaseInstance(
                    row.text("id", "bbcid"),
                    {"document": document},
                    [row.text("summary")],
                    document,
                )
            )
        return release_of(instances, folder.read)


# Genie's layout, for the demonstration tasks and for new tasks.
class DemoJsonl(ReleaseReader):
    """One object a line: ``id``, ``fields`` (name to text), ``references``."""

    slug = "demo-jsonl"
    layout = "test.jsonl: id, fields (object), references (list of texts)"
    options: ClassVar[Mapping[str, str]] = {
        "split": "name of the file without .jsonl (default: test)",
        "source": "which field is the source (default: the first)",
    }

    def read(self, path: Path, options: Mapping[str, Any]) -> Release:
        folder = Folder(path)
        file = folder.find(f"{options.get('split', 'test')}.jsonl")
        instances = []
        for row in folder.rows(file):
            fields = row.values.get("fields")
            if not isinstance(fields, dict) or not fields:
                raise row.broken("the field fields must be an object with strings")
            texts = {str(key): _text(row, key, value) for key, value in fields.items()}
            source = str(options.get("source", next(iter(texts))))
            if source and source not in texts:
                raise row.broken(f"the field {source} is missing")
            instances.append(
                ReleaseInstance(
                    row.text("id"),
                    texts,
                    row.texts("references"),
                    texts[source] if source else "",
                )
            )
        return release_of(instances, folder.read)


def _text(row: Row, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise row.broken(f"the field {key} is not a string")
    return value
