"""What holds for every answer, whatever the board is."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.etree import ElementTree

import html5lib
import yaml

NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
# A score as pages write it: 91.7 [80.6, 100.0]
INTERVAL = re.compile(rf"({NUMBER})\s*\[\s*({NUMBER})\s*,\s*({NUMBER})\s*\]")
OUTLINE = re.compile(
    r"<(?:title|h[1-6]|th(?![^>]*scope=.row))\b[^>]*>(.*?)</(?:title|h[1-6]|th)>", re.S
)
# keys, names of jobs, and numbers one after another with the months before them
VARIES = re.compile(
    r"\b[0-9a-f]{8,}\b|\b[A-Z0-9]{10,}\b|\b[a-z]+(?:-[a-z]+){3}\b"
    r"|(?:(?:\b[A-Z][a-z]{2,8}\.? )?\d[\d.,:–]*\s*)+"
)
VOID = {"br", "img", "input", "meta", "link", "hr", "source", "wbr", "col", "area"}


@dataclass
class Truth:
    """What board.json says of the board, and what was put into the database."""

    n_rows: int
    n_ranked: int
    n_scored: int
    planned: int
    submissions: int
    names: tuple[str, ...]
    counts: dict[str, int] = field(default_factory=dict)
    # noun -> the numbers of it in the board's JSON: a page counts no other
    said: dict[str, set[int]] = field(default_factory=dict)


# Who rated is called by several names; each is counted under the first.
NOUNS = {
    "systems": r"(?:ranked )?systems?",
    "ratings": r"(?:ratings?|answers)",
    "workers": r"(?:workers?|raters?|people)",
    "instances": r"instances?",
    "pairs": r"pairs?",
}
# Numbers of these that are limits, shares or of one of many say nothing of a whole board.
OF_A_PART = (
    r"(?:first|than|least|most|up to|[Ww]ithout|at|of the|more|another|every|each|per)"
)
COUNT = re.compile(
    rf"(?<![\w.,–/:-])(?P<before>{OF_A_PART} )?(?P<n>\d[\d,]*) "
    rf"(?:{'|'.join(f'(?P<{name}>{words})' for name, words in NOUNS.items())})(?![\w-])"
    r"(?! (?:per|each|may|are tied|answered \d+ test)\b)"
)


def counts_in(content: object, key: str = "") -> Iterator[tuple[str, int]]:
    """Yield what JSON counts: numbers by the nouns in their names, and lengths."""
    if isinstance(content, dict):
        for name, value in content.items():
            yield from counts_in(value, name)
    elif isinstance(content, list):
        for value in content:
            yield from counts_in(value, key)
    elif isinstance(content, int) and not isinstance(content, bool):
        noun = key.removeprefix("n_")
        if key in {"n", "of", "sample_size"}:
            noun = "instances"
        if noun in NOUNS:
            yield noun, content


def said_by(*contents: object) -> dict[str, set[int]]:
    said: dict[str, set[int]] = {}
    for content in contents:
        for noun, n in counts_in(content):
            said.setdefault(noun, set()).add(n)
    return said


def wrong_with_counts(page: Page, truth: Truth) -> Iterator[str]:
    """Compare each number before a noun with what the board's JSON counts of it."""
    words = page.words
    # a large matrix counts the pairs that it shows
    shown = {n * (n - 1) // 2 for n in (len(rows) - 1 for rows in page.tables)}
    for found in COUNT.finditer(words):
        noun = next(name for name in NOUNS if found[name])
        known = truth.said.get(noun, set()) | (shown if noun == "pairs" else set())
        if (
            truth.said.get(noun)
            and not found["before"]
            and int(number(found["n"])) not in known
        ):
            around = words[max(0, found.start() - 40) : found.end() + 30]
            yield f"says “…{around}…”, the JSON counts {noun} as {sorted(known)}"


def truth_of(board: dict) -> Truth:
    rows = board["rows"]
    ranked = [row for row in rows if row["rank_first"] is not None]
    scored = [row for row in rows if row["scores"]]
    of = [score["of"] for row in rows for score in row["scores"].values()]
    return Truth(
        n_rows=len(rows),
        n_ranked=len(ranked),
        n_scored=len(scored),
        planned=max([*(n for n in of if n is not None), 0]),
        submissions=len(rows),
        names=tuple(row["system"] for row in rows),
    )


class Page(HTMLParser):
    """The text that a page shows, its links and its forms, its tables as rows of cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.links: list[str] = []
        self.forms: list[tuple[str, list[tuple[str, str]]]] = []
        self.tables: list[list[list[str]]] = []
        self._skipped = 0
        self._select = ""
        self._cell: list[str] | None = None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in {"script", "style", "svg", "template"}:
            self._skipped += 1
        elif tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "form":
            action = values.get("action") or ""
            get = (values.get("method") or "get").lower() == "get"
            self.forms.append((action if get else "#", []))
        elif tag == "select":
            self._select = values.get("name") or ""
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self.tables and self.tables[-1]:
            self._cell = []
        self._field(tag, values)
        if tag not in {"b", "i", "em", "strong", "span", "a", "code", "sub", "sup"}:
            self.text.append(" ")

    def _field(self, tag, values) -> None:
        if not self.forms:
            return
        if tag == "option" and self._select and values.get("value") is not None:
            self.forms[-1][1].append((self._select, values["value"]))
        kind = values.get("type") or "text"
        offered = kind in {"checkbox", "radio", "hidden"}
        if tag == "input" and offered and values.get("name"):
            self.forms[-1][1].append((values["name"], values.get("value") or "on"))

    def handle_endtag(self, tag):
        if tag in {"script", "style", "svg", "template"}:
            self._skipped = max(0, self._skipped - 1)
        elif tag == "select":
            self._select = ""
        elif tag in {"td", "th"} and self._cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        if tag not in {"b", "i", "em", "strong", "span", "a", "code", "sub", "sup"}:
            self.text.append(" ")

    def handle_data(self, data):
        if not self._skipped:
            self.text.append(data)
            if self._cell is not None:
                self._cell.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def number(text: str) -> float:
    return float(text.replace(",", ""))


# Sentences that something is not there, and what must then not be there.
ABSENT: tuple[tuple[str, str], ...] = (
    (r"\bNo (?:systems?|submissions?)\b(?! (?:produced|gains|can))", "n_rows"),
    (
        r"\b[Nn]o (?:systems?|submissions?) (?:yet|is on|are on|has been|have been)",
        "n_rows",
    ),
    (r"\b[Nn]othing (?:has been|is) (?:rated|judged|published|scored)", "n_scored"),
    (r"\b[Nn]obody has (?:been )?(?:rated|judged)\b", "n_scored"),
    (r"\b[Nn]o (?:results?|scores?|ratings?) yet\b|\bhave no scores yet\b", "n_scored"),
    (
        r"\b[Nn]o (?:automatic )?metrics?(?: yet\b|\.)|\bNo (?:automatic )?metrics\b",
        "metrics",
    ),
    (r"\b[Nn]o comparisons?(?: yet\b|\.)|\bNo comparisons\b", "comparisons"),
    (
        r"\b[Nn]o (?:outputs?|texts?) (?:yet|here)\b|\bNo (?:outputs|texts)\b(?! match)",
        "texts",
    ),
)


def outline(status: int, kind: str, content: bytes) -> str:
    """Return an answer's status, title, headings and table headers, less their numbers."""
    text = content.decode() if kind.startswith("text/") else ""
    texts = text.splitlines()[:1] if "csv" in kind else OUTLINE.findall(text)
    plain = (html.unescape(re.sub(r"<[^>]+>", " ", text)) for text in texts)
    words = (" ".join(VARIES.sub("# ", text).split()) for text in plain)
    return " | ".join([str(status), *dict.fromkeys(filter(None, words))])


def wrong_with_markup(html: str) -> Iterator[str]:
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(html)
    for (line, _), code, more in parser.errors[:3]:
        near = html.splitlines()[line - 1].strip()[:100] if line else ""
        yield f"html5lib: {code} {more or ''} at line {line}: {near}"


def wrong_with_page(
    html: str, truth: Truth, *, whole: bool, absent: bool = True, counts: bool = False
) -> Iterator[str]:
    """Check what an HTML page says; `whole` if it is the board that `truth` is about."""
    page = Page(html)
    yield from _wrong_numbers(page, truth)
    if counts:
        yield from wrong_with_counts(page, truth)
    words = page.words
    for sentence, what in ABSENT if absent else ():
        there = truth.counts.get(what, getattr(truth, what, 0))
        found = re.search(sentence, words)
        if found and there:
            around = words[max(0, found.start() - 60) : found.end() + 40]
            yield f"says “…{around}…”, but there are {there} ({what})"
    if whole:
        yield from _wrong_counts(words, truth)
        missing = [name for name in truth.names if " ".join(name.split()) not in words]
        if missing and len(truth.names) <= 150:
            yield f"board.json has {missing[:3]}, which the page has not"


def _wrong_numbers(page: Page, truth: Truth) -> Iterator[str]:
    for value, low, high in INTERVAL.findall(page.words):
        if not number(low) <= number(value) <= number(high):
            yield f"{value} is not in its interval [{low}, {high}]"
    for rows in page.tables:
        heads = rows[0] if rows else []
        for place, head in enumerate(heads):
            if head.split(" ")[0:1] != ["Rank"]:
                continue
            for row in rows[1:]:
                cell = row[place] if place < len(row) else ""
                found = re.fullmatch(r"(\d[\d,]*)(?:–(\d[\d,]*))?", cell)
                ends = (
                    [int(number(end)) for end in found.groups() if end] if found else []
                )
                if ends and (ends != sorted(ends) or ends[-1] > max(truth.n_ranked, 1)):
                    yield f"rank {cell}, of {truth.n_ranked} ranked"


def _wrong_counts(words: str, truth: Truth) -> Iterator[str]:
    """Compare what a board's own page counts with board.json."""
    for pattern, count in (
        (r"(\d[\d,]*) ranked\b", truth.n_ranked),
        (r"rows \d[\d,]*–\d[\d,]* of (\d[\d,]*)", truth.n_rows),
    ):
        for found in re.findall(pattern, words):
            if int(number(found)) != count:
                yield f"{pattern}: the page says {found}, board.json {count}"


def wrong_with_json(content: object, truth: Truth, where: str = "") -> Iterator[str]:
    """Go through all objects: intervals, ranks, and numbers that were planned."""
    if isinstance(content, dict):
        yield from _wrong_with_object(content, truth, where)
        for key, value in content.items():
            yield from wrong_with_json(value, truth, f"{where}.{key}")
    elif isinstance(content, list):
        for place, value in enumerate(content):
            yield from wrong_with_json(value, truth, f"{where}[{place}]")


def _wrong_with_object(row: dict, truth: Truth, where: str) -> Iterator[str]:
    def numeric(key):
        value = row.get(key)
        return value if isinstance(value, int | float) else None

    for low, high in (("low", "high"), ("low_50", "high_50")):
        ends = numeric(low), numeric(high)
        if None in ends:
            continue
        middles = [numeric(key) for key in ("mean", "estimate", "value", "score")]
        inside = [ends[0], *(m for m in middles if m is not None), ends[1]]
        if inside != sorted(inside) and not all(
            ends[0] <= middle <= ends[1] for middle in inside
        ):
            yield f"{where}: {inside} is not in order"
    first, last = numeric("rank_first"), numeric("rank_last")
    now = not row.get("superseded_at")
    known = now and first is not None and last is not None and truth.n_ranked
    if known and not 1 <= first <= last <= truth.n_ranked:
        yield f"{where}: ranks {first}–{last} of {truth.n_ranked}"
    n, of = numeric("n"), numeric("of")
    if n is not None and of is not None and n > of:
        yield f"{where}: {n} of {of}"


def _strictly(text: str) -> object:
    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def wrong_with(
    content_type: str, content: bytes, truth: Truth, **about: bool
) -> list[str]:
    """Check an answer by what it says it is."""
    kind = content_type.split(";")[0].strip()
    try:
        if kind == "text/html":
            about.setdefault("whole", False)
            return list(wrong_with_page(content.decode(), truth, **about))
        if kind.endswith("json"):
            return list(wrong_with_json(_strictly(content.decode()), truth))
        if kind.endswith("xml"):
            ElementTree.fromstring(content)
        elif kind.endswith("yaml"):
            yaml.safe_load(content.decode())
        elif kind == "text/csv":
            rows = list(csv.reader(io.StringIO(content.decode())))
            widths = {len(row) for row in rows}
            if len(widths) > 1:
                return [f"a CSV whose rows have {sorted(widths)} cells"]
        elif kind == "image/png" and content[:4] != b"\x89PNG":
            return ["not a PNG"]
    except Exception as error:  # noqa: BLE001 - whatever a parser says is the finding
        return [f"cannot be read as {kind}: {error!r}"]
    return []
