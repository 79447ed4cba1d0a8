"""No file makes a reader fail: it reads it, or says in words what is wrong."""

import hypothesis
import pytest
from hypothesis import strategies as st

from leaderboard.tasks.drafts.bundle import DEFINITION
from tests.fuzz.changes import changed_parts, examples
from tests.fuzz.readers import ONE, READERS, good

ROWS = b'{"id": "1", "fields": {"q": "Why?"}, "references": []}'
SGML = {"n-src.x.sgm": b"<![x[", "n-ref.x.sgm": b""}
KEYLESS = {"manifest.json": b'{"format": 2}'}
LISTED = {"manifest.json": b'{"format": 2, "files": []}'}


def options(reader: str, line: str) -> dict[str, bytes]:
    text = f'slug = "a"\n[release]\nreader = "{reader}"\n[release.options]\n{line}\n'
    return {DEFINITION: text.encode(), "test.jsonl": ROWS}


# What once ended in an error that nobody was told of.
FOUND = [
    ("bundle", options("demo-jsonl", f'split = "{"a" * 300}"')),
    ("bundle", options("wmt-text", 'ids = "test.jsonl"\nsource = "test.jsonl"\nreferences = 5')),
    ("release of WMT, SGML", SGML),
    ("release of WMT, XML", {"t.xml": b"<?xml version='1.0' encoding='x'?><a/>"}),
    ("release of XSum", {"test.json": b""}),
    ("notice of Prolific", {ONE: b"[" * 3_000}),
    ("backup", KEYLESS),
    ("backup", LISTED),
]  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_good_files_are_read(name):
    for parts in good(name):
        assert attempt(READERS[name], parts)


@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_read_or_refused_in_words(name):
    reader = READERS[name]

    # `make fuzz` asks for many; tests/nets damages each file in fixed ways
    @examples(4)
    @hypothesis.given(st.sampled_from(good(name)).flatmap(changed_parts))
    def run(parts):
        attempt(reader, parts)

    run()


@pytest.mark.parametrize(("name", "parts"), FOUND)
def test_what_was_found_is_refused(name, parts):
    assert not attempt(READERS[name], parts)


def attempt(reader, parts) -> bool:
    try:
        reader.read(parts)
    except reader.refusals:
        return False
    return True
