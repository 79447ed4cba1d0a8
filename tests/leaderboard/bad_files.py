"""Files that a stranger may hand in, with the code that each must be refused by.

Made here so that the command and the API are held to the same list.
"""

import gzip
import json

GOOD = {f"i{n}": f"Prediction number {n}." for n in range(3)}


def as_json(**changes):
    return json.dumps({**GOOD, **changes}).encode()


def bomb():
    """Compress 40 MB of predictions to a few kilobytes."""
    return gzip.compress(
        b'{"i0": "' + b"a" * (40 << 20) + b'", "i1": "b", "i2": "c"}', 9
    )


REFUSED = {
    "bomb": ("predictions.json.gz", bomb, "too-long"),
    "invalid UTF-8": (
        "predictions.json",
        lambda: b'{"i0": "caf\xe9", "i1": "b", "i2": "c"}',
        "not-utf-8",
    ),
    "NUL": ("predictions.json", lambda: as_json(i1="a\x00b"), "control-character"),
    "bidi": (
        "predictions.json",
        lambda: as_json(i1="safe \u202e txt.exe"),
        "control-character",
    ),
    "depth": (
        "predictions.json",
        lambda: b'{"i0": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        "json-too-deep",
    ),
    "duplicate ids": (
        "predictions.json",
        lambda: b'{"i0": "a", "i1": "b", "i2": "c", "i0": "d"}',
        "duplicate-column",
    ),
    "missing ids": ("predictions.json", lambda: b'{"i0": "a"}', "missing-ids"),
    "unknown ids": ("predictions.json", lambda: as_json(i9="z"), "unknown-ids"),
    "no JSON": ("predictions.json", lambda: b'{"i0": "a",', "not-json"),
}

# What looks dangerous and is text like any other; it must arrive as it was sent.
HARMLESS = {
    "i0": "]]>",
    "i1": "</script><script>alert(1)</script>",
    "i2": "=cmd|' /C calc'!A0",
}
