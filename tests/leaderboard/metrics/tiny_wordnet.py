"""A WordNet of a few words, written by the tests in the format of the real one."""

import os
from pathlib import Path

import pytest

from leaderboard.metrics.meteor import missing_files, wordnet_folder

#: `make` fetches the real WordNet; where that may fail, its tests may skip.
needs_wordnet = pytest.mark.skipif(
    bool(missing_files(wordnet_folder()))
    and not os.environ.get("GENIE_REQUIRE_WORDNET"),
    reason="no WordNet here; run make setup or set GENIE_WORDNET",
)

HEADER = "  1 This is a made-up WordNet 0.5 Copyright of nobody  \n"
SYNSETS = {"noun": [["ship", "boat", "sailing_vessel"], ["sea", "ocean"]]}
TYPES = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def write_wordnet(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for part, kind in TYPES.items():
        data, index = HEADER, []
        for words in SYNSETS.get(part, []):
            offset = len(data.encode())
            listed = " ".join(f"{word} 0" for word in words)
            data += (
                f"{offset:08d} 06 {kind} {len(words):02x} {listed} 000 | a thing  \n"
            )
            index += [f"{word} {kind} 1 0 1 0 {offset:08d}  \n" for word in words]
        (folder / f"data.{part}").write_text(data, encoding="utf-8")
        (folder / f"index.{part}").write_text(
            HEADER + "".join(sorted(index)), encoding="utf-8"
        )
        (folder / f"{part}.exc").write_text("", encoding="utf-8")
    return folder
