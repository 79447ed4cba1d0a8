"""XSum: news articles with one-sentence summaries, JSON or JSONL."""

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
