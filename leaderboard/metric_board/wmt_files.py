"""Judgments in the files of WMT's campaigns: Appraise's CSV, Pearmut's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from genie.lib.formats.csv_text import csv_text
from leaderboard.metric_board.selectors.marked import Judgment, Segment

MISSING = "missing"
# Appraise names languages by three letters; others stay as the task names them.
_THREE = {
    **{"ar": "ara", "bn": "ben", "cs": "ces", "da": "dan", "de": "deu", "el": "ell"},
    **{"en": "eng", "es": "spa", "et": "est", "fa": "fas", "fi": "fin", "fr": "fra"},
    **{"gu": "guj", "ha": "hau", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun"},
    **{"is": "isl", "it": "ita", "iu": "iku", "ja": "jpn", "kk": "kaz", "km": "khm"},
    **{"ko": "kor", "lt": "lit", "lv": "lav", "mr": "mar", "nl": "nld", "no": "nor"},
    **{"pl": "pol", "ps": "pus", "pt": "por", "ro": "ron", "ru": "rus", "sr": "srp"},
    **{"sv": "swe", "sw": "swa", "ta": "tam", "th": "tha", "tr": "tur", "uk": "ukr"},
    **{"ur": "urd", "vi": "vie", "xh": "xho", "zh": "zho", "zu": "zul"},
}
_PROTOCOLS = {"error-spans": "ESA", "mqm": "MQM", "error-span-pairs": "cESA"}


def language(code: str) -> str:
    """Name a language by three letters.

    Examples
    --------
    >>> language("de"), language("zh-hans"), language("mlt")
    ('deu', 'zho', 'mlt')
    """
    return _THREE.get(code.partition("-")[0], code)


def outside(span: Mapping[str, Any]) -> dict[str, Any]:
    """Give a mark's place as both tools count: the last character is within.

    Examples
    --------
    >>> outside({"start": 4, "end": 9, "severity": "minor"})
    {'start_i': 4, 'end_i': 8, 'severity': 'minor'}
    >>> outside({"missing": True, "severity": "major"})["end_i"]
    'missing'
    """
    gone = "start" not in span
    return {
        "start_i": MISSING if gone else span["start"],
        "end_i": MISSING if gone else span["end"] - 1,
        "severity": span["severity"],
    }


def appraise(
    judgments: Iterable[Judgment], languages: tuple[str, str], *, marked: bool
) -> Iterator[str]:
    """Write Appraise's CSV without header: 12 columns with marks, 11 without.

    A score that nobody gave, as in MQM, is 0. Both times are midnight of the day, and
    empty where nobody knows it.
    """
    pair = [language(code) for code in languages]
    for one in judgments:
        kinds = [
            {**outside(span), "error_type": (span.get("category") or "").split("/")}
            if span.get("category")
            else {**outside(span), "error_type": None}
            for span in one.spans or ()
        ]
        row: list[Any] = [one.worker, one.system, one.segment.number, "TGT", *pair]
        row += [f"{one.score or 0:g}", f"{one.segment.document}#{one.system}", "False"]
        row += [json.dumps(kinds, ensure_ascii=False)] if marked else []
        cells = {
            str(place): cell for place, cell in enumerate([*row, one.day, one.day])
        }
        yield csv_text([*cells], [cells]).split("\n", 1)[1]


def pearmut(
    judgments: Iterable[Judgment], outputs: Mapping[int, Mapping[str, str]]
) -> Iterator[str]:
    """Write Pearmut's JSONL: a line for what one worker said of one document."""
    number: dict[str, int] = {}

    def page(one: Judgment) -> tuple[str, str]:
        return one.worker, one.segment.document

    for (worker, _document), said in groupby(sorted(judgments, key=page), key=page):
        number[worker] = number.get(worker, -1) + 1
        by_segment: dict[int, list[Judgment]] = {}
        for one in said:
            by_segment.setdefault(one.segment.number, []).append(one)
        parts = [by_segment[key] for key in sorted(by_segment)]
        line = {
            "user_id": worker,
            "item_i": number[worker],
            "item": [_item(part[0].segment, _texts(part, outputs)) for part in parts],
            "annotation": [{one.system: _said(one) for one in part} for part in parts],
            "actions": [],
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def campaign(
    name: str,
    design: str,
    segments: Sequence[Segment],
    outputs: Mapping[int, Mapping[str, str]],
    categories: Mapping[str, Sequence[str]],
) -> str:
    """Write a Pearmut campaign that asks for the same outputs: documents of segments."""
    info: dict[str, Any] = {
        "assignment": "single-stream",
        "protocol": _PROTOCOLS.get(design, "DA"),
    }
    if categories:
        info["mqm_categories"] = {key: list(below) for key, below in categories.items()}
    documents: dict[str, list[dict[str, Any]]] = {}
    for segment in segments:
        texts = outputs.get(segment.number - 1)
        if texts:
            documents.setdefault(segment.document, []).append(_item(segment, texts))
    whole = {"campaign_id": name, "info": info, "data": list(documents.values())}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _item(segment: Segment, texts: Mapping[str, str]) -> dict[str, Any]:
    return {"item_id": segment.name, "src": segment.source, "tgt": dict(texts)}


def _texts(
    part: Sequence[Judgment], outputs: Mapping[int, Mapping[str, str]]
) -> dict[str, str]:
    of = outputs.get(part[0].segment.number - 1, {})
    return {one.system: of.get(one.system, "") for one in part}


def _said(one: Judgment) -> dict[str, Any]:
    spans = [{**outside(s), "category": s.get("category")} for s in one.spans or ()]
    return {"score": one.score, "error_spans": spans, "textfield": None}
