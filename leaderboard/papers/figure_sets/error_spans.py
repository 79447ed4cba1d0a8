"""A campaign of marked errors: its rows, spans and scores, and the working time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leaderboard.imports.readers.judgments import Role
from leaderboard.papers.figures import (
    Computed,
    Figures,
    Settings,
    by_row,
    first_criterion,
    ranks,
)

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments

# A longer pause, in seconds, is no work on one segment.
_LONGEST_GAP = 300
_SEVERITIES = ("minor", "major", "critical", "neutral", "undecided")
_CLEAN = (Role.JUDGMENT.value, Role.PLANTED.value)


class ErrorSpans(Figures):
    slug = "spans"
    layouts = ("appraise", "mqm-tsv", "pearmut", "mt-metrics-eval")
    title = "Marked errors (ESA, MQM)"
    names = {
        "rows": "rows of the campaign, all kinds",
        "logins": "accounts",
        "annotators": "people",
        "rows_tutorial": "rows of the tutorial",
        "rows_duplicate": "rows that made a task full, with a copy",
        "rows_incomplete": "rows that made a task full, with a part of a document",
        "rows_dup": "copies of an account's own items",
        "rows_planted": "rows of planted texts, each time they were answered",
        "rows_after_cleaning": "real and planted rows, the latest of each",
        "rows_tgt": "of those, real ones",
        "rows_bad": "of those, planted ones",
        "spans": "errors marked in real texts",
        "spans_missing": "of those, omissions",
        **{f"spans_{each}": f"of those, {each} ones" for each in _SEVERITIES},
        "spans_all": "errors marked in all rows",
        "spans_all_missing": "of those, omissions",
        "bad_mean_score": "mean score of planted texts",
        "tgt_mean_score": "mean score of real texts",
        "mean": "mean of a system's segment scores",
        "n": "its segments with a score",
        "rank": "place by that mean",
        "people": "people whose times are known",
        "seconds_per_segment": "time since the account's item before, mean of people's means",
        "spans_per_segment": "errors marked in the same texts",
        "seconds_per_span": "ratio of the two",
    }

    @classmethod
    def compute(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all figures; `extra` may have accounts, tags and starts."""
        rows = with_extra(judgments)
        clean = rows[rows["role"].isin(_CLEAN)]
        real = rows[rows["role"] == Role.JUDGMENT.value]
        planted = rows[rows["role"] == Role.PLANTED.value]
        every = _spans(rows)
        found = _counts(rows) | _spans(real)
        found["spans_all"] = every["spans"]
        found["spans_all_missing"] = every["spans_missing"]
        found |= {
            "rows_after_cleaning": float(len(clean)),
            "rows_tgt": float(len(real)),
            "rows_bad": float(len(planted)),
            "tgt_mean_score": float(real["value"].mean()),
        }
        if len(planted):
            found["bad_mean_score"] = float(planted["value"].mean())
        scores = segment_scores(judgments).groupby(level="system")
        found |= by_row("mean", scores.mean()) | by_row("n", scores.size())
        return found | by_row("rank", ranks(scores.mean())) | efforts([judgments])


def with_extra(judgments: Judgments) -> pd.DataFrame:
    """Return the rows of the criterion that people were asked for, with all columns."""
    rows = first_criterion(judgments.rows)
    if judgments.extra is None:
        return rows
    return rows.join(judgments.extra.drop(columns=rows.columns, errors="ignore"))


def segment_scores(judgments: Judgments) -> pd.Series:
    """Return the mean score of each segment of each system, indexed by both."""
    rows = with_extra(judgments)
    counted = {role.value for role in judgments.counted}
    rows = rows[rows["role"].isin(counted) & rows["value"].notna()]
    return rows.groupby(["system", "instance"])["value"].mean()


def _counts(rows: pd.DataFrame) -> Computed:
    found = {
        "rows": len(rows),
        "annotators": rows["worker"].nunique(),
        "rows_tutorial": (rows["role"] == Role.TUTORIAL.value).sum(),
    }
    if "account" in rows:
        found["logins"] = rows["account"].nunique()
    if "tag" in rows:
        tags = rows["tag"]
        found["rows_duplicate"] = tags.str.contains("duplicate").sum()
        found["rows_incomplete"] = tags.str.contains("incomplete").sum()
        found["rows_dup"] = tags.str.contains(r"dup(?!licate)").sum()
        found["rows_planted"] = (rows["type"] == "BAD").sum()
    return {name: float(value) for name, value in found.items()}


def _spans(rows: pd.DataFrame) -> Computed:
    spans = [span for marked in rows["spans"] for span in marked or ()]
    kinds = Counter(span["severity"] for span in spans)
    found: Computed = {f"spans_{each}": float(kinds[each]) for each in _SEVERITIES}
    found["spans"] = float(len(spans))
    return found | {"spans_missing": float(sum("missing" in span for span in spans))}


def efforts(campaigns: list[Judgments]) -> Computed:
    """Return the mean working times; each person of each campaign has the same weight.

    The time of a text runs from the start of the account's previous text, real or
    planted; planted texts have none. Times above 300 s are replaced by the person's
    median.
    """
    import pandas as pd

    parts = [_of_people(with_extra(one)) for one in campaigns]
    people = pd.concat([part for part in parts if part is not None] or [pd.DataFrame()])
    if people.empty:
        return {}
    seconds, spans = float(people["seconds"].mean()), float(people["spans"].mean())
    found: Computed = {
        "people": float(len(people)),
        "seconds_per_segment": seconds,
        "spans_per_segment": spans,
    }
    return found | ({"seconds_per_span": seconds / spans} if spans else {})


def _of_people(rows: pd.DataFrame) -> pd.DataFrame | None:
    import pandas as pd

    if "start" not in rows or "account" not in rows:
        return None
    rows = rows[rows["role"].isin(_CLEAN)].sort_values(["account", "start"])
    rows = rows.assign(gap=rows.groupby("account")["start"].diff())
    timed = rows[rows["gap"].notna() & (rows["role"] == Role.JUDGMENT.value)]
    medians = timed.groupby("worker")["gap"].transform("median")
    gaps = timed["gap"].where(timed["gap"] <= _LONGEST_GAP, medians)
    marked = timed["spans"].map(lambda spans: len(spans or ()))
    by_person = [each.groupby(timed["worker"]).mean() for each in (gaps, marked)]
    return pd.DataFrame(dict(zip(("seconds", "spans"), by_person, strict=True)))
