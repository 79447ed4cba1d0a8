"""ARC-DA: questions with several direct answers, JSONL."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from leaderboard.tasks.readers.base import (
    Release,
    ReleaseInstance,
    ReleaseReader,
    release_of,
)
from leaderboard.tasks.readers.files import Folder


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
