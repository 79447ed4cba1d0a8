"""Appraise, the platform of WMT: a CSV without a header, one row per score."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen, one_of
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Role,
    Texts,
    from_rows,
)
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.layouts.appraise_rows import (
    Row,
    give_roles,
    join_pairs,
    kind_of,
    refuse_outside,
    rows_of,
    systems_of,
)
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.spans import fit, mqm_score
from leaderboard.imports.readers.test_sets import (
    batch_of_accounts,
    batches_of,
    segments_of,
)

# Number of rows that an error lists.
_LISTED = 50
_PAIR = re.compile(r",(?:TGT|BAD|REF|CHK),([^,\s]+),([^,\s]+),")


class Appraise(Layout):
    """Direct assessment by segment or document, pairs of outputs, ESA and MQM."""

    slug = "appraise"
    title = "Appraise (WMT: DA, SQM, ESA, MQM)"
    files = (
        "Scores without a header, beside them annotators.csv (login, annotator), the"
        " batches (JSON) and the documents (.docs or segment, domain, document)"
    )
    tried_on = (
        "five campaigns of ESA and MQM (WMT23 English-German) and a wave of WMT24's ESA;"
        " direct assessment and pairs on examples of our own"
    )

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        files = [source for source in sources if kind_of(source)]
        if not files:
            return NOT_MINE
        kinds = ", ".join(sorted({kind_of(source) for source in files}))
        asked = (_campaign(files), _language_pair(files))
        return Look(0.95, f"rows of Appraise without a header ({kinds})", asked)

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        files = [source for source in sources if kind_of(source)]
        if not files:
            raise GenieError(
                "No file has the rows of Appraise: 9, 11 or 12 columns, the fourth TGT,"
                " BAD, REF or CHK.",
                code="not-appraise",
            )
        campaign = chosen(choices, "campaign", _campaign(files).options)
        source = next(s for s in files if _name(s) == campaign)
        pair = chosen(choices, "pair", _language_pair([source]).options)
        problems: list[Problem] = []
        rows = [row for row in rows_of(source, problems) if row.pair == pair]
        give_roles(rows)
        join_pairs(rows)
        refuse_outside(rows, source.name)
        made = Judgments(cls.slug, from_rows([]), problems=problems)
        _place(rows, sources, made, source.name)
        _fit_spans(rows, made.problems, source.name)
        people = _people(rows, sources, made.problems)
        made.rows, made.extra = _frames(
            rows, people, sources.index(source), made, source.name
        )
        made.scales = {"DA": "0 to 100", "ESA": "0 to 100"}
        made.languages = (pair.partition("-")[0], pair.partition("-")[2])
        return made


def _name(source: Source) -> str:
    return source.stem.removesuffix(".scores")


def _campaign(files: Sequence[Source]) -> Choice:
    question = "Which campaign's file shall be read?"
    return one_of("campaign", question, [_name(source) for source in files])


def _language_pair(files: Sequence[Source]) -> Choice:
    found = {pair for source in files for pair in _PAIR.findall(source.text)}
    pairs = sorted("-".join(pair) for pair in found)
    return one_of("pair", "Which pair of languages?", pairs)


def _place(
    rows: list[Row], sources: Sequence[Source], made: Judgments, name: str
) -> None:
    segments = segments_of(sources)
    known = {segment.instance: segment for segment in segments}
    shown: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        shown[row.login].append((row.item, row.document))
    batches = batch_of_accounts(batches_of(sources), shown)
    numbered = _item_is_segment(rows, {s.instance: s.document for s in segments})
    # a number that occurs in several documents identifies a segment only within one
    within = not segments and len({r.item for r in rows}) < len(
        {(r.item, r.name) for r in rows}
    )
    places = {} if numbered else _places(rows)
    items = {
        id(row): batches[row.login].items.get((row.item, row.document), {})
        for row in rows
        if row.login in batches
    }
    if not numbered:
        _refuse_split(
            [r for r in rows if not _segment_number(items.get(id(r), {}))], name
        )
    for row in rows:
        item = items.get(id(row), {})
        row.text = str(item.get("targetText") or "")
        number = _segment_number(item)
        if row.role in (Role.TUTORIAL, Role.DOCUMENT):
            row.instance = row.name or row.item
        elif number:
            row.instance = number
        elif numbered:
            row.instance = f"{row.name}:{row.item}" if within else row.item
        else:
            row.instance = places[id(row)]
        if row.role is Role.JUDGMENT:
            _keep(row, item, known, made)
    order = {segment.instance: n for n, segment in enumerate(segments)}
    last = len(order)
    ordered = sorted(made.documents.items(), key=lambda kv: order.get(kv[0], last))
    made.documents = dict(ordered)
    if not numbered and any(not row.text for row in rows if row.role is Role.JUDGMENT):
        sentence = (
            "Items are numbered within a task here: a segment is named by its document"
            " and its place there. Add the batches (JSON) for the test set's numbers."
        )
        made.problems.append(Problem(name, 0, "item", sentence, fatal=False))


def _keep(
    row: Row,
    item: Mapping[str, Any],
    known: Mapping[str, Any],
    made: Judgments,
) -> None:
    texts: Texts = made.texts
    if item:
        texts.inputs.setdefault(
            row.instance, {"source": str(item.get("sourceText") or "")}
        )
        for system in systems_of(row.system):
            texts.outputs.setdefault((system, row.instance), row.text)
    segment = known.get(row.instance)
    if segment and segment.domain:
        made.domains[row.instance] = segment.domain
    document = segment.document if segment else row.name
    if document:
        made.documents[row.instance] = document


def _segment_number(item: Mapping[str, Any]) -> str:
    """Return the segment of a batch's "system | number from 0 | document"."""
    parts = str(item.get("_item", "")).split(" | ")
    return str(int(parts[1]) + 1) if len(parts) > 2 and parts[1].isdigit() else ""


def _item_is_segment(rows: list[Row], documents: Mapping[str, str]) -> bool:
    real = [row for row in rows if row.role is Role.JUDGMENT]
    if documents:
        return all(documents.get(row.item) == row.name for row in real)
    if not any(row.document for row in real):
        return True
    of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in real:
        of[(row.name, row.system)].add(row.item)
    by_document: dict[str, list[set[str]]] = defaultdict(list)
    for (name, _), items in of.items():
        by_document[name].append(items)
    return all(
        len(set.union(*found)) == len(found[0]) for found in by_document.values()
    )


def _refuse_split(rows: list[Row], name: str) -> None:
    """Refuse a document of which several accounts, or some systems, have only a part.

    Raises ``no-position``: the segments of the parts are unknown.
    """
    of: dict[str, dict[str, dict[str, list[Row]]]] = defaultdict(dict)
    for row in rows:
        if row.role is Role.JUDGMENT:
            by_account = of[row.name].setdefault(row.system, defaultdict(list))
            by_account[row.login].append(row)
    unknown: list[Row] = []
    for systems in of.values():
        found = [list(by_account.values()) for by_account in systems.values()]
        split = [parts for parts in found if len(parts) > 1]
        uneven = len({len(part) for parts in found for part in parts}) > 1
        for parts in split or (found if uneven else []):
            unknown += [row for part in parts for row in part]
    if unknown:
        numbers = sorted(row.number for row in unknown)
        listed = ", ".join(f"{n:,}" for n in numbers[:_LISTED])
        more = f" and {len(numbers) - _LISTED:,} more" if numbers[_LISTED:] else ""
        raise GenieError(
            f"{name}, rows {listed}{more}: these are parts of documents, by several"
            " accounts or of other length than for other systems, and items are numbered"
            " within an account, so which segment a row is of is not known. Add the batches (JSON) that the accounts were given, or put each"
            " segment's number in the test set into the column item (the third).",
            code="no-position",
        )


def _places(rows: list[Row]) -> dict[int, str]:
    of: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        of[(row.login, row.document, row.system)].append(row)
    named: dict[int, str] = {}
    for found in of.values():
        items = sorted({row.item for row in found}, key=lambda i: (len(i), i))
        place = {item: n for n, item in enumerate(items, 1)}
        named |= {id(row): f"{row.name or row.item}:{place[row.item]}" for row in found}
    return named


def _fit_spans(rows: list[Row], problems: list[Problem], name: str) -> None:
    marked = [row for row in rows if row.spans]
    fitted, told = fit([(row.text, row.spans or []) for row in marked])
    for row, spans in zip(marked, fitted, strict=True):
        row.spans = spans
    if told:
        problems.append(Problem(name, 0, "spans", told, fatal=False))


def _people(
    rows: list[Row], sources: Sequence[Source], problems: list[Problem]
) -> dict[str, str]:
    mapped: dict[str, str] = {}
    for source in sources:
        if source.lines(1) == ["login,annotator"]:
            table = source.table()
            mapped |= dict(zip(table["login"], table["annotator"], strict=True))
            named = pseudonyms(mapped.values())
            mapped = {login: named[person] for login, person in mapped.items()}
    logins = list(dict.fromkeys(row.login for row in rows))
    unknown = [login for login in logins if login not in mapped]
    if unknown:
        sentence = (
            f"Of {len(logins):,} accounts {len(unknown):,} are in no annotators.csv"
            " (login,annotator): each counts as a person, so agreement may be"
            " somebody's with themselves."
        )
        problems.append(Problem("annotators.csv", 0, "login", sentence, fatal=False))
    named = pseudonyms(logins)
    return {login: mapped.get(login) or named[login] for login in logins}


def _frames(
    rows: list[Row], people: Mapping[str, str], file: int, made: Judgments, name: str
) -> tuple[Any, Any]:
    import pandas as pd

    by_spans = bool(rows) and rows[0].spans is not None
    seconds = _gaps(rows) if by_spans else {}
    rows = [row for row in rows if row.usable]
    unused = (
        by_spans
        and any(row.spans for row in rows)
        and not any(row.score for row in rows if row.role is Role.JUDGMENT)
    )
    accounts = pseudonyms(row.login for row in rows)
    listed: list[dict[str, Any]] = []
    extra = []
    for row in rows:
        if row.other and row.number > row.other.number:
            continue
        common = {
            "file": file,
            "row": row.number,
            "role": row.role.value,
            "worker": people[row.login],
            "instance": row.instance,
            "page": f"{accounts[row.login]} {row.document}".strip(),
            "document": row.name,
            "at": row.end,
            "seconds": seconds.get(id(row), row.end - row.start),
        }
        said = _said(row, esa=by_spans and not unused)
        listed += [{**common, **one} for one in said]
        about = {
            "account": accounts[row.login],
            "item": row.item,
            "type": row.type,
            "tag": row.document.partition("#")[2],
            "start": row.start,
        }
        extra += [about] * len(said)
    made.problems += _told(rows, name, unused)
    return from_rows(listed), pd.DataFrame(extra)


def _said(row: Row, *, esa: bool) -> list[dict[str, Any]]:
    if row.other:
        first, second = row.score, row.other.score
        return [
            {
                "system": systems_of(row.system)[0],
                "other": systems_of(row.other.system)[0],
                "criterion": "preference",
                "value": 0.5 if first == second else float(first > second),
                "word": f"{row.word} : {row.other.word}",
            }
        ]
    said: list[dict[str, Any]] = []
    for system in systems_of(row.system):
        one = {"system": system, "value": row.score, "word": row.word}
        marked = [span.to_dict() for span in row.spans or []]
        if row.spans is None:
            said.append({**one, "criterion": "DA"})
            continue
        if esa:
            said.append({**one, "criterion": "ESA", "spans": marked})
        mqm = mqm_score(row.spans)
        one |= {"value": mqm, "word": str(mqm), "spans": None if esa else marked}
        said.append({**one, "criterion": "MQM"})
    return said


def _gaps(rows: list[Row]) -> dict[int, float]:
    """Return the times between an account's starts; a row's end is its last change."""
    gaps = {id(row): float("nan") for row in rows}
    by_login: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.role in (Role.JUDGMENT, Role.PLANTED, Role.REFERENCE):
            by_login[row.login].append(row)
    for found in by_login.values():
        found.sort(key=lambda row: row.start)
        for before, row in pairwise(found):
            gaps[id(row)] = row.start - before.start
    return gaps


def _told(rows: list[Row], name: str, unused: bool) -> list[Problem]:
    told = []
    several = sum("+" in row.system and row.role is Role.JUDGMENT for row in rows)
    if several:
        told.append(
            f"{several:,} rows are of a text that several systems gave (joined by +): each"
            " became one for every system, and these are not independent."
        )
    pairs = sum(row.other is not None for row in rows) // 2
    if pairs:
        told.append(
            f"{pairs:,} tasks showed two outputs: the higher of the two scores is taken as"
            " the one preferred, and the scores are kept as words."
        )
    if unused:
        told.append("All scores are 0: MQM is taken from the spans alone.")
    if rows and rows[0].spans is not None:
        told.append(
            "Seconds are those since the account's item before, breaks included; the file's"
            " own times are of the last change only."
        )
    return [Problem(name, 0, "", sentence, fatal=False) for sentence in told]
