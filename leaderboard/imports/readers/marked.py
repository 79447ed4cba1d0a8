"""Rows of texts with several scores and marked errors, as Appraise and Pearmut have."""

from collections.abc import Sequence
from typing import Any

from leaderboard.imports.readers.judgments import Judgments, Role, from_rows
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.sources import number_of
from leaderboard.imports.readers.spans import fit

Row = dict[str, Any]
_KEPT = (Role.JUDGMENT.value, Role.NAMES_SHOWN.value)


def add_rows(made: Judgments, texts: Sequence[Row], file: str) -> list[Row]:
    """Add a row for each of a text's "values", and keep its "output" and "source".

    The first row has the text's spans, with their places corrected. Workers get
    pseudonyms, and pages those of accounts. Values that are no number are reported.
    """
    fitted, note = fit([(text["output"], text["spans"] or []) for text in texts])
    if note:
        made.report(file, 0, "spans", note, fatal=False)
    people = pseudonyms(text["worker"] for text in texts)
    accounts = pseudonyms(text["account"] for text in texts)
    rows = []
    for text, spans in zip(texts, fitted, strict=True):
        if text["role"] in _KEPT:
            made.keep(text)
        account = accounts[text["account"]]
        row = {**text, "worker": people[text["worker"]], "account": account}
        row["page"] = f"{account} {text['page']}".strip()
        marked = [span.to_dict() for span in spans]
        row["spans"] = None if text["spans"] is None else marked
        for criterion, word in text["values"].items():
            if (value := number_of(word)) == value:
                about = {"criterion": criterion, "value": value}
                rows.append({**row, **about, "word": str(word).removesuffix(".0")})
                row["spans"] = None
            elif word not in (None, ""):
                what = f"{str(word)[:40]!r} is no number."
                made.report(file, text["row"], criterion, what)
    made.rows = from_rows(rows)
    return rows
