"""Every reader with every damage: what it refuses, by code and place, and what it reads.

A line a case: damage -> code, file:row:column, or how much was read. `refusals.txt` has no
sentences, which may be rewritten.
"""

import json
import os
import re
from dataclasses import replace
from inspect import getattr_static
from pathlib import PurePath

import pytest

from crowd.requester.questions.answer_format import FormatError
from genie.lib.errors import GenieError
from leaderboard.files import Problem
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.layout import all_layouts
from leaderboard.imports.readers.read import read as read_judgments
from leaderboard.imports.selectors import About
from leaderboard.imports.services import plan
from leaderboard.imports.services.measures import say_outside
from leaderboard.imports.services.plan import settle
from leaderboard.metric_board.readers import ScoreFile
from leaderboard.submissions.readers import PredictionFile
from leaderboard.table_stats.read import Pairs, Ratings
from leaderboard.tables import Table
from leaderboard.tasks.readers.base import Release, all_readers
from tests.each import with_slow
from tests.fuzz.readers import READERS, good, predictions, unzipped
from tests.leaderboard.imports.examples import by_reader, file_of
from tests.leaderboard.tasks.intake.workbook import sheet, workbook
from tests.nets.conftest import FILES
from tests.nets.damages import damages

_FILE = r"([\w.-]+\.(?:csv|tsv|jsonl?|xml|te?xt|sgm|lst|html|toml|xlsx))\b"
_ROW = r"\b(?:lines?|rows?|records?|entry|cell) (\d[\d,]*\b|[A-Z]+\d+)"
_COLUMN = (
    r"columns? [“'\"]([^”'\"]+)|column (\w[\w.-]*)(?=[:;])|parameter ([\w.]+)"
    r"|no columns? (?:for the |named |of )?(\w+)"
)
_LISTED = 4  # places in a line
_GOOD = 2  # files that each reader reads, and that are damaged
# Of nine damages `make test` tries one, `make test-slow` the others, `.ci/run` one of them.
_PART = os.environ.get("GENIE_WALK_PART")
_OTHERS = {1 + int(_PART)} if _PART else set(range(1, 9))
_PARTS = {"a ninth": {0}, "the others": _OTHERS}


def _judgments(name):
    """Do what an import does before anything is stored: guess, read, find scales."""
    _, choices, _ = by_reader()[name]
    choices = choices | ({"lost": "yes"} if name in all_layouts() else {})

    def read(parts):
        files = [file_of(name, data) for name, data in parts.items()]
        found = read_judgments(files, choices=choices)
        scales, _asked, refused = settle(found, None, About(), files)
        say_outside(plan.ratings_of(found), scales, found, files)
        return found, refused

    return read


def outcome(read, *args):
    """Return what comes of reading, in words that no rewritten sentence changes."""
    try:
        return _of_result(read(*args))
    except FormatError:
        return ["FormatError"]
    except GenieError as error:
        code = getattr(error, "turk_code", "").rpartition(".")[2] or error.code
        return [_with_place(code, str(error), **error.details)]


def _of_result(result):
    match result:
        case Judgments() as found, refused:
            roles = ", ".join(f"{n} {role}" for role, n in found.n_by_role().items())
            total = found.judged["value"].sum()
            problems = [
                f"{'row refused' if one.fatal else 'note'} {one.source}:{one.row or ''}:{one.field}"
                for one in found.problems
            ]
            asked = [f"asked {len(refused)}"] if refused else []
            return [f"read {found.layout}: {roles}, sum {total:g}", *asked, *problems]
        case [Ratings() | Pairs(), *_]:
            kinds = [
                getattr(one, "values", getattr(one, "outcome", None)) for one in result
            ]
            return [f"read {sum(map(len, result))}, sum {sum(map(sum, kinds)):g}"]
        case PredictionFile(problems=[]):
            return [f"read {len(result.predictions)}"]
        case ScoreFile(problems=[]):
            return [
                f"read {len(result.scores)}, sum {sum(s.value for s in result.scores.values()):g}"
            ]
        case PredictionFile(problems=problems) | ScoreFile(problems=problems):
            return [
                _with_place(one.code, one.message, **dict(*one.examples[:1]))
                for one in problems
            ]
        case [Problem(), *_]:
            return [
                _with_place(p.code, str(p), p.file, column=p.column) for p in result
            ]
        case Table():
            return [f"read {len(result.numbers)}: {', '.join(result.columns)}"]
        case Release():
            return [f"read {len(result.instances)}"]
        case list() | tuple() | dict() | frozenset():
            return [f"read {len(result)}"]
    return [f"read {result}" if isinstance(result, int | float) else "read"]


def _with_place(code, sentence, file="", line="", id="", column="", **_rest):
    """Return code and file:row:column, by details or else by the sentence."""
    found = [re.search(pattern, sentence) for pattern in (_FILE, _ROW, _COLUMN)]
    said = ["".join(filter(None, one.groups())) if one else "" for one in found]
    given = (PurePath(str(file)).name, line or id or "", column)
    place = ":".join(str(own or other) for own, other in zip(given, said, strict=True))
    return f"{code} {place}".rstrip(": ")


def _readers():
    two = [{"id": "q1", "prediction": "a"}, {"id": "q2", "prediction": "b"}]
    more = {
        "predictions, JSON": predictions(
            ".json", '{"q1": "a", "q2": "b"}', json.dumps(two)
        ),
        "predictions, lines": predictions(".txt", "a\nb\n"),
    }
    whole = sheet([["id", "text"], ["1", "Hello"], ["2", "Ho"]])
    book = unzipped(workbook(whole, shared="<si><t>shared</t></si>"))
    more["studio, XLSX"] = replace(READERS["studio, XLSX"], good=(book,))
    for name, reader in {**READERS, **more}.items():
        kind, _, example = name.partition(", ")
        read = _judgments(example) if kind == "judgments" else reader.read
        yield name, read, (reader.good or good(name))[:_GOOD]


def _net(tried, committed):
    """Yield the file's lines; of damages that are not `tried`, the committed ones."""
    for name, read, files in _readers():
        for n, parts in enumerate(files):
            yield (section := f"{name} {n + 1}" if n else name)
            yield f"  undamaged: {(whole := _line(read, parts))}"
            known = dict(enumerate(committed.get(section, [])))
            for place, (what, damaged) in enumerate(damages(parts, of_bytes=not n), 1):
                old = known.get(place, "")
                if place % 9 not in tried and old.startswith(f"  {what}: "):
                    yield old
                    continue
                found = _line(read, damaged)
                yield f"  {what}: {'as undamaged' if found == whole else found}"


def _committed():
    """Return the lines of the committed file by section."""
    sections, section = {}, []
    for line in (FILES / "refusals.txt").read_text("utf-8").splitlines():
        if line.startswith("  "):
            section.append(line)
        else:
            section = sections[line] = []
    return sections


def _line(read, parts):
    words = list(dict.fromkeys(outcome(read, parts)))
    more = [f"{len(words) - _LISTED} more"] if len(words) > _LISTED else []
    return "; ".join([*words[:_LISTED], *more])


@pytest.mark.parametrize("part", with_slow(_PARTS, ["the others"]))
def test_damaged_files_are_refused_by_code_and_place_or_read(
    part, net, monkeypatch, request
):
    used, every = set(), {**all_layouts(), **all_readers()}
    for slug, kind in every.items():
        monkeypatch.setattr(
            kind, "read", _noting(getattr_static(kind, "read"), slug, used)
        )
    rewrites = request.config.getoption("--rewrite")
    lines = _net(_PARTS[part], {} if rewrites else _committed())
    net("refusals.txt", "".join(f"{line}\n" for line in lines))
    assert set(every) == used


def _noting(read, slug, used):
    of_class = isinstance(read, classmethod)

    def reading(*args):
        used.add(slug)
        return (read.__func__ if of_class else read)(*args)

    return classmethod(reading) if of_class else reading
