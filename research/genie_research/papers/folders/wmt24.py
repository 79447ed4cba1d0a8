"""The second wave of WMT24's error span annotation, out of English."""

from pathlib import Path

from genie_research.papers.folder import Folder, file_like, judgments_in
from genie_research.papers.folders.esa import accounts_in, mapping_in
from genie_research.papers.table import Workbench
from leaderboard.papers.figure_sets.domains import Domains
from leaderboard.papers.figure_sets.error_spans import ErrorSpans
from leaderboard.papers.figures import Computed, under

_PAIRS = {
    "en-cs": "eng-ces",
    "en-hi": "eng-hin",
    "en-ja": "eng-jpn",
    "en-zh": "eng-zho",
}
_BESIDE = ("annotators.csv", "documents.tsv")
_ALL = ("rows", "rows_tutorial", "rows_incomplete", "rows_dup")


class Wmt24(Folder):
    slug = "wmt24-esa"
    title = "Error spans of 53 systems in four pairs: scores by domain"
    paper = "Kocmi et al. (2024), Findings of WMT24, tables (of one of three waves)"
    folder = "wmt24-esa"

    def figures(self, folder: Path, bench: Workbench) -> Computed:
        name = file_like(folder, "esa_generalMT2024_wave2")
        if name is None:
            return {}
        files = [name, *(each for each in _BESIDE if (folder / each).is_file())]
        found: Computed = {}
        whole = dict.fromkeys(
            (*_ALL, "rows_bad", "rows_clean", "spans", "spans_missing"), 0.0
        )
        for part, pair in _PAIRS.items():
            bench.tell(f"{self.slug}: {part}")
            judgments = judgments_in(folder, files, "appraise", {"pair": pair})
            found |= under(part, Domains.compute(judgments, {}))
            counted = ErrorSpans.compute(judgments, {})
            for key in whole:
                whole[key] += float(counted.get(_OURS.get(key, key), 0.0))
        mapped = mapping_in(folder)
        accounts = accounts_in(folder, name)
        known = accounts & mapped.keys()
        found |= whole
        found["logins"] = float(len(accounts))
        found["logins_mapped"] = float(len(known))
        found["annotators_mapped"] = float(len({mapped[login] for login in known}))
        return under("wave2", found)


# Names of the whole wave, if a campaign's figures have different ones.
_OURS = {
    "rows_bad": "rows_planted",
    "rows_clean": "rows_tgt",
    "spans": "spans_all",
    "spans_missing": "spans_all_missing",
}
