"""Files of texts with several scores and marked errors, one file per campaign."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.files import File, refuse
from leaderboard.imports.readers.judgments import Judgments, Role, from_rows, supersede
from leaderboard.imports.readers.layout import (
    NOT_MINE,
    Choice,
    Layout,
    Look,
    one_of,
    pick,
)
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.sources import number_of, stem_of
from leaderboard.imports.readers.spans import fit

Row = dict[str, Any]
_KEPT = (Role.JUDGMENT, Role.NAMES_SHOWN)
_ROLES = (*_KEPT, Role.REPEATED, Role.REFERENCE, Role.PLANTED)
_AGAIN = ("role", "worker", "page", "system", "instance", "criterion")


class Campaigns(Layout):
    """A layout in which one file has the ratings of one campaign."""

    @classmethod
    @abstractmethod
    def has_ratings(cls, file: File) -> bool:
        """Check whether a file has a campaign's ratings, by its beginning."""

    @classmethod
    @abstractmethod
    def read_file(
        cls, n: int, files: Sequence[File], choices: Mapping[str, Any], made: Judgments
    ) -> None:
        """Add the ratings of the file with the number `n`."""

    @classmethod
    def questions(cls, files: Sequence[File]) -> tuple[Choice, ...]:
        return ()

    @classmethod
    def look(cls, sources: Sequence[File]) -> Look:
        own = [file for file in sources if cls.has_ratings(file)]
        names = [stem_of(file) for file in own]
        asked = one_of("campaign", "Which campaign's file shall be read?", names)
        return Look(0.95, (asked, *cls.questions(own))) if own else NOT_MINE

    @classmethod
    def read(cls, sources: Sequence[File], choices: Mapping[str, Any]) -> Judgments:
        own = {stem_of(f): n for n, f in enumerate(sources) if cls.has_ratings(f)}
        if not own:
            what = f"no file has ratings of {cls.title}; a campaign alone has none"
            raise refuse("no-output", what, "")
        made = Judgments(cls.slug, from_rows([]))
        cls.read_file(own[pick(choices, "campaign", [*own])], sources, choices, made)
        return made


def add_rows(
    made: Judgments, texts: Sequence[Row], file: str, extra: Sequence[str] = ()
) -> None:
    """Add a row for each of a text's "values", and keep its "output" and "source".

    The first row has the text's spans, with their places corrected. Workers get
    pseudonyms, and pages those of accounts. Values that are no number are reported. The
    last rating of an output on a page counts.
    """
    import pandas as pd

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
    supersede(made.rows, _AGAIN, _ROLES)
    made.extra = pd.DataFrame(rows, columns=list(extra)) if extra else None
