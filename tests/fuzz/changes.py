"""Good files with a few things wrong: words put in, doubled, cut out, bytes that are no text."""

import os
import re

import hypothesis
from hypothesis import strategies as st

# `make fuzz` asks for many, and for others each time.
LONG = int(os.environ.get("GENIE_FUZZ_EXAMPLES", "0"))
TOKENS = [
    *(b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\t", b" "),
    *(b'"', b"'", b",", b":", b"=", b"\\", b"\\u0000", b'"\\ud800"', b"PAR1"),
    b"PK\3\4",
    *(b"null", b"true", b"NaN", b"nan", b"inf", b"-Infinity", b"1e999", b"-1", b"0"),
    *(b"0.5", b"1_0", b"0x1", b"9" * 25, b"9" * 5_000, b"1979-05-27", b"07:32:00"),
    *(b"[]", b"{}", b"[1]", b"[[1]]", b'{"a": 1}', b'"text"', b'""', b"a = 1", b"[a]"),
    *(b"[" * 3_000, b'{"a":' * 3_000, b"<a>" * 100, b"(" * 300),
    *(b"<a>", b"</a>", b"<a b='c'/>", b"&#0;", b"&x;", b"&", b"<![x[", b"<!DOCTYPE a>"),
    *(b"<!--", b"]]>", b"<?x?>", b"{% %}", b"{{ }}", b"{% if a %}", b"|length"),
    *("\u202e".encode(), "٣".encode(), "é".encode()),
    *(b"${a}", b"=1+1", b"../", b"/", b"%s", b"*"),
]
_WORD = re.compile(rb"\w+|\s+|.", re.DOTALL)


@st.composite
def changed(draw, data: bytes) -> bytes:
    """Change a file in up to three places, word by word or byte by byte."""
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 5)) == 0:
            at = draw(st.integers(0, len(data)))
            gone = draw(st.integers(0, 8))
            data = data[:at] + draw(st.binary(max_size=8)) + data[at + gone :]
            continue
        words = _WORD.findall(data)
        at = draw(st.integers(0, len(words)))
        gone = draw(st.sampled_from([0, 1, 1, 1, 2, 5, 20]))
        put = draw(st.sampled_from(TOKENS))
        if words and draw(st.booleans()):  # what stands elsewhere in it
            other = draw(st.integers(0, len(words) - 1))
            put = b"".join(words[other : other + draw(st.integers(1, 8))])
        data = b"".join([*words[:at], put, *words[at + gone :]])
    return data


@st.composite
def changed_parts(draw, parts: dict[str, bytes]) -> dict[str, bytes]:
    """Change one or two of several files, or take one away."""
    found = dict(parts)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(parts)))
        if len(parts) > 1 and draw(st.integers(0, 20)) == 0:
            found.pop(name, None)
        else:
            found[name] = draw(changed(found.get(name, b"")))
    return found


def examples(n: int) -> hypothesis.settings:
    """Give the settings of a short run, the same each time, or of a long one."""
    return hypothesis.settings(
        max_examples=LONG or n,
        derandomize=not LONG,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
