"""Column names of tables, and the fields that they mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


#: Columns that identify people; they are dropped, under any layout.
PERSONAL = frozenset((
    "ip", "ip_address", "ipaddress", "ipaddr", "email", "e_mail", "mail",
    "email_address", "recipientemail", "name", "full_name", "first_name", "last_name",
    "surname", "firstname", "lastname", "recipientfirstname", "recipientlastname",
    "annotator_name", "worker_name", "user_name_full", "location",
    "location_latitude", "locationlatitude", "location_longitude",
    "locationlongitude", "latitude", "longitude", "city", "region", "address",
    "phone", "telephone", "externaldatareference", "externalreference", "birthday",
    "date_of_birth",
))  # fmt: skip
_MARKS = frozenset("\"'`´‘’‚‛“”„‟«»‹›")


def plain(name: str) -> str:
    """Return a name in small letters, with one `_` for blanks, dots and hyphens.

    Examples
    --------
    >>> plain(" Worker ID"), plain("Duration (in seconds)")
    ('worker_id', 'duration_in_seconds')
    """
    letters = "".join(c if c.isalnum() else " " for c in str(name).lower())
    return "_".join(letters.split())


def fold_name(name: str) -> str:
    """Return a name without case, spaces and quotation marks.

    Examples
    --------
    >>> fold_name(" 'Red Hen'")
    'redhen'
    """
    letters = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        c for c in letters if c.isprintable() and not c.isspace() and c not in _MARKS
    )


# Read words of a table as numbers and times.

Floats = npt.NDArray[np.float64]
Words = Sequence[str] | npt.NDArray[np.object_]
Values = TypeVar("Values", bound=npt.NDArray[Any])

_NOTHING = frozenset(
    ("", "na", "n/a", "nan", "none", "null", "nil", "-", "--", ".", "?", "<na>", "#n/a")
)
_DECIMAL_COMMA = r"[+-]?\d+,\d+"
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
# Later than any study, in seconds; a larger number counts milliseconds.
_FAR = 1e11
_FIRST = 1e8
# "(1-5)" and "[0 to 100]"; "1 = bad, 5 = perfect".
_RANGE = re.compile(
    r"(?:[(\[]|\bfrom |\bscale:? |\bscale of )\s*(-?[0-9]{1,4})\s*(?:-|–|to|\.\.+|…)\s*(-?[0-9]{1,4})\b",
    re.IGNORECASE,
)
_MEANING = re.compile(r"(?<![\w.])(-?[0-9]{1,4})\s*[=:]\s*[^\W\d]")
_US = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%y %H:%M", "%m/%d/%Y")
_OTHERS = (
    "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M",
    "%a %b %d %H:%M:%S %Z %Y", "%b %d, %Y %I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p",
)  # fmt: skip


def different(*columns: Words) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the first place of each different row, and for each row which of them it is.

    Columns of ratings have few different words, so that each is read once.

    Examples
    --------
    >>> [found.tolist() for found in different(["a", "b", "a"])]
    [[0, 1], [0, 1, 0]]
    """
    import pandas as pd

    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in filter(any, columns):
        own, names = pd.factorize(np.asarray(column, object), use_na_sentinel=False)
        codes = own if len(columns) == 1 else pd.factorize(codes * len(names) + own)[0]
    return np.flatnonzero(~pd.Series(codes).duplicated().to_numpy()), codes


def _each_once(read: Callable[[Words], Values]) -> Callable[[Words], Values]:
    @wraps(read)
    def once(words: Words) -> Values:
        places, which = different(words)
        return cast("Values", read(np.asarray(words, object)[places])[which])

    return once


@_each_once
def is_nothing(words: Words) -> npt.NDArray[np.bool_]:
    """Return which words mean no answer: empty, NA, None, -, ...

    The result is an (n,) array of bool.
    """
    return np.fromiter(
        (
            (bare := word.strip().lower()) in _NOTHING or bare.startswith("n/a ")
            for word in words
        ),
        bool,
        len(words),
    )


@_each_once
def numbers(words: Words) -> Floats:
    """Return the words of a column as numbers, NaN if they are no finite ones.

    They have a decimal point or comma. "1,000" is a thousand if every number with a comma
    can be read so, and none of them starts with 0.

    Examples
    --------
    >>> numbers(["3", "4,5", "NA", "1e2"]).tolist()
    [3.0, 4.5, nan, 100.0]
    >>> numbers(["1,000", "250"]).tolist()
    [1000.0, 250.0]
    """
    texts = [str(word).strip().removesuffix("%") for word in words]
    found = _floats(texts)
    comma = [i for i in np.flatnonzero(np.isnan(found)) if "," in texts[i]]
    thousands = all(re.fullmatch(_THOUSANDS, texts[i]) for i in comma)
    if not thousands:
        comma = [i for i in comma if re.fullmatch(_DECIMAL_COMMA, texts[i])]
    if comma:
        mark = "" if thousands else "."
        found[comma] = _floats([texts[i].replace(",", mark) for i in comma])
    return found


def read_both_ways(words: Words) -> bool:
    """Return whether every number has a comma that may be decimal or of thousands.

    A number without a comma, or with a different number of digits after it, decides.

    Examples
    --------
    >>> read_both_ways(["3,125", "2,500"]), read_both_ways(["1,000", "250"])
    (True, False)
    """
    words = list(set(words))
    found = zip(words, numbers(words), strict=True)
    read = [word.strip() for word, value in found if not np.isnan(value)]
    return bool(read) and all(map(_EITHER.fullmatch, read))


def _floats(texts: pd.Series | list[str]) -> Floats:
    import pandas as pd

    found = np.array(pd.to_numeric(np.asarray(texts, object), errors="coerce"), float)
    found[~np.isfinite(found)] = np.nan
    return found


def stated_scale(text: str) -> str:
    """Return the scale stated by a question or a column's name, "" if there is none."""
    found = _RANGE.search(text)
    words = found.groups() if found else _MEANING.findall(text)
    ends = {int(word) for word in words}
    return f"{min(ends)} to {max(ends)}" if len(ends) > 1 else ""


@_each_once
def moments(words: Words) -> Floats:
    """Return Unix seconds: from seconds, milliseconds, ISO 8601, US and other dates.

    A column has one form of dates, with the month first unless a date cannot be. Without
    a zone they are UTC, and NaN if they cannot be read.

    Examples
    --------
    >>> moments(["2026-03-01T10:00:00Z", "1772359200"]).tolist()
    [1772359200.0, 1772359200.0]
    >>> moments(["11/29/2017 03:28:06"]).tolist()
    [1511926086.0]
    """
    import pandas as pd

    series = pd.Series(list(words), dtype="object").astype(str).str.strip()
    found = _floats(series)
    found[(found < _FIRST) | (found > _FAR * 1000)] = np.nan
    found = np.where(found > _FAR, found / 1000, found)
    rest = series[np.isnan(found) & ~is_nothing(series.to_numpy())]
    best = _stamps(rest, "ISO8601")
    for form in (*_US, *_OTHERS):
        if not len(rest) or not np.isnan(best).any():
            break
        other = _stamps(rest, form)
        if np.isnan(other).sum() < np.isnan(best).sum():
            best = other
    found[rest.index.to_numpy(dtype=int)] = best
    return found


def _stamps(series: pd.Series, form: str) -> Floats:
    import pandas as pd

    # years before Christ are parsed, but cannot be converted
    series = series.where(~series.str.startswith("-"), "")
    read = pd.to_datetime(series, format=form, errors="coerce", utc=True)
    return np.array((read - pd.Timestamp(0, tz="UTC")).dt.total_seconds(), dtype=float)
