"""Damages that files get: the same for each reader, by what a file looks like."""

import csv
import gzip
import io
import json
import re

_CELLS = {"empty": "", "too large": "99999", "NaN": "NaN", "a word": "four"}
_VALUES = {"empty": "", "too large": 99999, "a word": "four", "a list": []}
_MOST = 5  # columns or keys of one file


def damages(parts, *, of_bytes=True):
    """Yield a name and the files for each damage to each of several files."""
    for name, data in parts.items():
        others = {other: own for other, own in parts.items() if other != name}
        if others:
            yield f"{name} left out", others
        whole = _bytes(data) if of_bytes else {}
        for what, changed in {**whole, **dict(_texts(data))}.items():
            if changed != data:
                yield f"{name} {what}".strip(), {**parts, name: changed}


def _bytes(data):
    word = re.search(rb"[A-Za-z]{2,}", data)
    at = word.end() if word else len(data)
    return {
        "empty": b"",
        "cut in half": data[: len(data) // 2],
        "in Latin-1": data[:at] + b"\xe9" + data[at:],
        "in UTF-16": data.decode("utf-8", "replace").encode("utf-16"),
        "with a NUL": data[:at] + b"\0" + data[at:],
        "with a byte order mark": b"\xef\xbb\xbf" + data,
        "half of a gzip": gzip.compress(data, mtime=0)[:-12],
        "a workbook": b"PK\x03\x04" + bytes(26),
        "a web page": b"<!DOCTYPE html><html><body>Not found</body></html>",
    }


def _texts(data):
    text = data.decode("utf-8", "replace")
    lines = text.splitlines()
    if "\N{REPLACEMENT CHARACTER}" in text:
        return ()
    if re.match(r'[{\[]\s*["{\[\]}]', text):
        return _json(text)
    if text[:1] == "<":
        return _markup(text)
    mark = max("\t;,", key=lambda sign: lines[0].count(sign)) if lines else ","
    if re.search(r"^\w+ = ", text, re.MULTILINE):
        return _lines(lines)
    return _table(text, mark) if mark in text else _lines(lines)


def _lines(lines):
    for n, line in list(enumerate(lines))[:_MOST]:
        key, is_set, _value = line.partition(" = ")
        yield f"line {n + 1} left out", _joined([*lines[:n], *lines[n + 1 :]])
        if is_set:
            changed = [*lines[:n], f"{key} = 99999", *lines[n + 1 :]]
            yield f"{key} a number", _joined(changed)


def _joined(lines):
    return "".join(f"{line}\n" for line in lines).encode()


def _table(text, mark):
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))

    def write(*changed):
        out = io.StringIO()
        csv.writer(out, delimiter=mark, lineterminator="\n").writerows(changed)
        return out.getvalue().encode()

    head, first, *rest = *rows, [], []
    yield "without a header", write(first, *rest)
    yield "only a header", write(head)
    yield "header twice", write(head, *rows)
    yield "row 1 twice", write(head, first, *rows[1:])
    yield "row 1 short", write(head, first[:-1], *rest)
    yield "row 1 long", write(head, [*first, "more"], *rest)
    yield "a quote that stays open", text.replace(mark, f'{mark}"', 1).encode()
    yield "with another separator", text.replace(mark, "|").encode()
    yield "two columns of one name", write([head[0], *head[:-1]], *rows[1:])
    for k, name in list(enumerate(head))[:_MOST]:
        own = name.strip()[:20]
        yield f"without column {own}", write(*(r[:k] + r[k + 1 :] for r in rows))
        renamed = [*head[:k], "x", *head[k + 1 :]]
        yield f"column {own} renamed", write(renamed, *rows[1:])
        for what, cell in _CELLS.items():
            changed = [*first[:k], cell, *first[k + 1 :]]
            yield f"{own} {what}", write(head, changed, *rest)


def _json(text):
    try:
        one, by_line = json.loads(text), False
    except ValueError:
        one, by_line = [json.loads(line) for line in text.splitlines() if line], True

    def write(value):
        if by_line:
            return _joined(json.dumps(row, ensure_ascii=False) for row in value)
        return json.dumps(value, ensure_ascii=False).encode()

    yield "with NaN", re.sub(r"(?<=: )[0-9.]+", "NaN", text, count=1).encode()
    yield "with a comma too much", text.replace("}", ",}", 1).encode()
    yield "nested too deeply", b"[" * 3000
    if isinstance(one, list):
        yield "entry 1 twice", write([one[0], *one])
        yield "entry 1 a number", write([5, *one[1:]])
        yield "entry 1 an empty object", write([{}, *one[1:]])
    for path in list(_paths(one))[:_MOST]:
        name = ".".join(map(str, path))[:40]
        yield f"without {name}", write(_changed(one, path, None, drop=True))
        for what, value in _VALUES.items():
            yield f"{name} {what}", write(_changed(one, path, value))


def _paths(value, above=()):
    """Yield the keys of objects, in the first of several entries, down to the leaves."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield (*above, key)
            yield from _paths(below, (*above, key))
    elif isinstance(value, list) and value:
        yield from _paths(value[0], (*above, 0))


def _changed(value, path, new, *, drop=False):
    key, *below = path
    copy = value.copy()
    if below:
        copy[key] = _changed(value[key], below, new, drop=drop)
    elif drop:
        del copy[key]
    else:
        copy[key] = new
    return copy


def _markup(text):
    tags = list(dict.fromkeys(re.findall(r"<(\w+)", text)))[:_MOST]
    yield "with an entity", re.sub(r">(?=\w)", ">&x;", text, count=1).encode()
    yield "with a document type", b"<!DOCTYPE a [<!ENTITY x 'y'>]>" + text.encode()
    for tag in tags:
        yield f"without <{tag}>", re.sub(rf"</?{tag}\b[^>]*>", "", text).encode()
        yield f"</{tag}> left out", text.replace(f"</{tag}>", "", 1).encode()
        yield (
            f"<{tag}> empty",
            re.sub(
                rf"(<{tag}\b[^>]*>).*?</{tag}>",
                rf"\1</{tag}>",
                text,
                count=1,
                flags=re.DOTALL,
            ).encode(),
        )
        yield (
            f"<{tag}> a number",
            re.sub(
                rf"(<{tag}\b[^>]*>).*?</{tag}>",
                rf"\g<1>99999</{tag}>",
                text,
                count=1,
                flags=re.DOTALL,
            ).encode(),
        )
    for name in list(dict.fromkeys(re.findall(r'(\w+)="', text)))[:_MOST]:
        yield (
            f"without {name}=",
            re.sub(rf' {name}="[^"]*"', "", text, count=1).encode(),
        )
