"""Damages of a table of ratings, given as bytes: CSV, TSV or JSON Lines.

Seeds 0-9 are for development. Seeds 10-19 stay unseen: they are run once, at the end,
and their results are reported unchanged. With a HARMLESS damage a file must be read with
equal results. With another it is read right, refused, or shown before anything is stored.
"""

import csv
import io
import json
import re

from tests.leaderboard.tasks.intake.workbook import cell, sheet, workbook
from tests.nets.years import summarize, to_csv

HARMLESS = ["whole", "byte order mark", "CRLF", "shuffled columns", "shuffled rows"]
HARMLESS += ["extra column", "trailing comma", "quoted names", "semicolons", "Excel"]
CAREFUL = ["Latin-1", "header twice", "renamed column", "word among numbers"]
CAREFUL += ["row twice", "value out of scale", "near-equal names", "missing batch"]
CAREFUL += ["rater split over two accounts", "empty cells", "thousands separators"]
CAREFUL += ["decimal commas", "half a file"]
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def read(data):
    text = data.decode()
    if text[0] == "{":
        objects = [json.loads(line) for line in text.splitlines()]
        return [[*objects[0]], *([*x.values()] for x in objects)]
    mark = "\t" if "\t" in text else ","
    style = csv.QUOTE_NONE if mark == "\t" and text[0] != '"' else csv.QUOTE_MINIMAL
    lines = [*csv.reader(io.StringIO(text), delimiter=mark, quoting=style)]
    if len(lines[0]) == 1:  # WMT's header has blanks
        lines[0] = [name.strip('"') for name in lines[0][0].split(" ")]
    return lines


def write(lines, like, mark, style):
    """Return the bytes of a table in the form that `like` has."""
    if like[:1] == b"{":
        rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
        rows = [json.dumps(row, ensure_ascii=False) for row in rows]
        return "".join(f"{row}\n" for row in rows).encode()
    mark = mark or ("\t" if b"\t" in like else ",")
    style = csv.QUOTE_NONE if mark == "\t" and not style else style
    data = to_csv(*lines, mark=mark, style=style)
    blanks = mark == "\t" and b"\t" not in like.splitlines()[0]
    return data.replace(b"\t", b" ", len(lines[0]) - 1) if blanks else data


def to_excel(lines):
    rows, number = [], '<c r="{}"><v>{}</v></c>'.format
    for n, line in enumerate(lines, start=1):
        cells = [(f"{chr(65 + k)}{n}", str(x)) for k, x in enumerate(line)]
        rows.append([number(*x) if NUMBER.fullmatch(x[1]) else cell(*x) for x in cells])
    return workbook(sheet(rows))


def damage(name, data, rng, roles, ratings=(), scale=None):
    """Return damaged bytes, right summaries and a word; None if it does not apply.

    A reading that is not right must show a problem with the word.
    """
    right, half = [summarize(ratings)] if ratings else [], len(data) // 2
    of_bytes = {"whole": data, "byte order mark": b"\xef\xbb\xbf" + data}
    of_bytes["CRLF"] = data.replace(b"\n", b"\r\n")
    of_bytes["half a file"] = data[: max(half, data.find(b"\n", half) + 9)]
    if name in of_bytes:
        return of_bytes[name], [] if name == "half a file" else right, ""
    if not roles:  # JSON that is no table
        return None
    lines, marks, first = read(data), data[:1] != b"{", 0 if 0 in roles else 1
    rows, head = lines[first:], lines[0] if first else [*range(len(lines[0]))]
    at = {role: [] for role in [*roles.values(), None]}
    for k, column in enumerate(head):
        at[roles.get(column)].append(k)
    every = [(x, c) for x in rows for c in at["rating"]]
    picked = rng.sample(ratings, 3) if ratings else []
    cells = [(rows[one.rows[0]], head.index(one.column)) for one in picked]
    (row, k), (r,) = (cells or every)[0], at["rater"]
    system, rater, value = row[at["system"][0]], row[r], str(row[k])
    named = [(x, c) for x in rows for c in at["system"] if x[c] == system]
    theirs = [x for x in rows if x[r] == rater]
    word, mark, style, encoding = "", "", csv.QUOTE_MINIMAL, "utf-8"
    match name:
        case "Excel":
            return to_excel(lines), right, ""
        case "semicolons" if marks:
            mark = ";"
        case "quoted names" if marks:
            style = csv.QUOTE_ALL
        case "trailing comma" if marks:
            lines = [[*x, ""] for x in lines]
        case "shuffled rows":
            lines[first:] = rng.sample(rows, len(rows))
        case "shuffled columns" if first:
            columns = [*zip(*lines, strict=True)]
            lines = [*zip(*rng.sample(columns, len(columns)), strict=True)]
        case "extra column" if first:
            lines = [["remark", *head], *(["seen", *x] for x in rows)]
        case "Latin-1":
            for x, c in named:
                x[c] = f"{system}é"
            new = {s: f"{s}é" for s in (system, system.split(".", 1)[-1])}.get
            right = [x._replace(system=new(x.system, x.system)) for x in ratings]
            right, encoding = [summarize(right)], "latin-1"
        case "header twice" if first and marks:
            lines.insert(rng.randrange(2, len(lines)), head)
        case "renamed column" if first:
            word = head[rng.choice([at["system"][0], r, k])]
            lines[0] = ["q7" if x == word else x for x in head]
        case "word among numbers":
            row[k], right, word = "fine", [], "fine"
        case "value out of scale" if scale:
            row[k], right, word = "1007", [], "1007"
        case "row twice":
            lines.insert(rng.randrange(first, len(lines)), row)
        case "near-equal names":
            for x, c in named[::2]:
                x[c] = rng.choice([f"{system} ", system.swapcase()])
        case "missing batch":
            lines = [x for x in lines if x not in theirs]
            right = [summarize([x for x in ratings if rows[x.rows[0]] not in theirs])]
        case "rater split over two accounts":
            moved = sorted({str(x[at["item"][0]]) for x in theirs})[::2]
            for x in [x for x in theirs if str(x[at["item"][0]]) in moved]:
                x[r] = f"{rater}_2"
            right += [{**x, "n_raters": x["n_raters"] + 1} for x in right]
        case "empty cells" if NUMBER.fullmatch(value):
            for x, c in cells:
                x[c] = ""
            right = [summarize([x for x in ratings if x not in picked])]
        case "thousands separators" if value.isdigit():
            for x, c in every:
                x[c] = f"{int(x[c]) * 1000:,}"
            right = [summarize([x._replace(value=x.value * 1000) for x in ratings])]
        case "decimal commas" if NUMBER.fullmatch(value):
            for x, c in every:
                x[c] = f"{float(x[c])}".replace(".", ",")
        case _:
            return None
    data = write(lines, data, mark, style).decode().encode(encoding, "replace")
    return data, right if ratings else [], word
