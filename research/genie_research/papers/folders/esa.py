"""Error span annotation and MQM of the same texts: five campaigns, English-German."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from genie_research.papers.folder import Folder, file_like, judgments_in
from genie_research.papers.folders.between_campaigns import agreement
from genie_research.papers.table import Workbench
from leaderboard.papers.figure_sets.error_spans import (
    ErrorSpans,
    efforts,
    segment_scores,
)
from leaderboard.papers.figures import Computed, by_row, under

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments

_CAMPAIGNS = {
    "ESA-1": "240315rc5ESA",
    "ESA-2": "240520rc6ESA",
    "ESA-IAA": "240521rc6ESA",
    "MQM-1": "240315rc5MQM",
    "MQM-IAA": "240521rc6MQM",
}
_POOLED = ("ESA-1", "ESA-2")
_OTHERS = {"WMT23-mqm": "mqm", "WMT23-da-sqm": "da-sqm"}
# Documents that are no judgments, though their rows are of the kind TGT.
_LEFT_OUT = re.compile("tutorial|#dup")
_BESIDE = ("annotators.csv", "wmt23-en-de.docs")


class Esa(Folder):
    slug = "esa"
    title = "Spans, scores, times and agreement of ESA and MQM on the same segments"
    paper = "Kocmi et al. (2024), Error Span Annotation, WMT, tables"
    folder = "esa"

    def figures(self, folder: Path, bench: Workbench) -> Computed:
        campaigns = {}
        found: Computed = {}
        for name, start in _CAMPAIGNS.items():
            bench.tell(f"{self.slug}: {name}")
            if file := file_like(folder, f"{start}.scores"):
                campaigns[name] = read_campaign(folder, file, name)
                found |= under(name, ErrorSpans.compute(campaigns[name], {}))
                found |= under(name, _beyond(folder, file))
        scores = {name: segment_scores(one) for name, one in campaigns.items()}
        scores |= wmt23(folder)
        for name in _OTHERS:
            if name in scores:
                means = scores[name].groupby(level="system").mean()
                found |= under(name, by_row("sys", means))
        names = list(scores)
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                between = agreement(scores[first], scores[second])
                found |= under(f"agreement/{first}~{second}", between)
        pooled = efforts([campaigns[name] for name in _POOLED if name in campaigns])
        return found | under("pooled/ESA", pooled) | under("paper/ESA", pooled)


def read_campaign(folder: Path, file: str, name: str) -> Judgments:
    """Read a campaign with people, documents and texts."""
    kind = name.partition("-")[0].lower()
    texts = file_like(folder, f"batches_wmt23_en-de_{kind}")
    beside = [each for each in (*_BESIDE, texts) if each and (folder / each).is_file()]
    return judgments_in(folder, [file, *beside], "appraise", {})


def wmt23(folder: Path) -> dict[str, pd.Series]:
    found = {}
    for name, kind in _OTHERS.items():
        file = file_like(folder, f"wmt23-en-de.{kind}.seg.score")
        if file:
            judgments = judgments_in(folder, [file], "mt-metrics-eval", {})
            found[name] = segment_scores(judgments)
    return found


def mapping_in(folder: Path) -> dict[str, str]:
    """Read the person behind each account."""
    file = folder / "annotators.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["login"]: row["annotator"] for row in csv.DictReader(lines)}


def _cells(folder: Path, file: str) -> list[list[str]]:
    data = (folder / file).read_bytes()
    text = (gzip.decompress(data) if file.endswith(".gz") else data).decode()
    return [row for row in csv.reader(text.split("\n")) if row]


def accounts_in(folder: Path, file: str) -> set[str]:
    """Return the accounts of a campaign as in the file."""
    return {row[0] for row in _cells(folder, file)}


def _beyond(folder: Path, file: str) -> Computed:
    rows = _cells(folder, file)
    unmapped = {row[0] for row in rows} - mapping_in(folder).keys()
    real = [row for row in rows if row[3] == "TGT" and not _LEFT_OUT.search(row[7])]
    spans = [span for row in real for span in json.loads(row[9])]
    return {
        "unmapped_logins": float(len(unmapped)),
        "spans_without_error_type": float(
            sum("error_type" not in span for span in spans)
        ),
    }
