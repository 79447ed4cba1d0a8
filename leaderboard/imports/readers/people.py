"""Pseudonyms of raters, and the removal of names from messages."""

import re
from collections.abc import Iterable

# A code of a tool or an organizer: it has a number and is short.
_CODE = re.compile(r"(?=.*\d)[\w.#-]{1,16}", re.ASCII)
# Ids of platforms, which could be looked up: MTurk's, and hexadecimal ones (Prolific).
_PLATFORM = re.compile(r"A[0-9A-Z]{9,}|[0-9a-f]{16,}", re.ASCII)

# An e-mail address, an IPv4 address, or an id of a platform, within other words.
_WITHIN = re.compile(
    r"[^@\s'\"/,;<>()]+@[^@\s'\"/,;<>()]+\.[a-zA-Z]{2,}|\b(?:\d{1,3}\.){3}\d{1,3}\b"
    rf"|\b(?:{_PLATFORM.pattern})\b",
    re.ASCII,
)
# Names of programs that judge; people are arena_user_5, expert_3, author_2 or a hash.
_PROGRAM = re.compile(
    r"[\[{].*|(gpt|claude|gemini|llama|palm|mistral|mixtral|qwen|deepseek|command-r|o[134]-).*",
    re.IGNORECASE | re.DOTALL,
)


def is_program(name: str) -> bool:
    """Check whether a name is a language model's; hashed names cannot be recognized.

    Examples
    --------
    >>> is_program("gpt-4"), is_program('["gpt-4", "pair-v2"]'), is_program("expert_4")
    (True, True, False)
    """
    return _PROGRAM.fullmatch(name) is not None


def without_people(text: str) -> str:
    """Return a sentence without addresses and platform ids of people.

    Examples
    --------
    >>> without_people("ratings.csv, row 3: 'eva@example.org' is not a number.")
    "ratings.csv, row 3: '…' is not a number."
    """
    return _WITHIN.sub("…", text)


def kept_name(path: str) -> str:
    """Return a file's name without its folders: tools have a folder for each person.

    Examples
    --------
    >>> kept_name("annotation_output/eva@example.org/user_state.json")
    'user_state.json'
    """
    return without_people(path.rpartition("/")[2])


def pseudonyms(names: Iterable[str]) -> dict[str, str]:
    """Return a pseudonym for each name, e-mail address, platform id or code.

    They are in the order of the first occurrence. Codes of a tool ("rater3") stay; all
    others are numbered: "worker-1", ... An empty name stays empty.

    Examples
    --------
    >>> pseudonyms(["eva@example.org", "rater3", "", "eva@example.org", "Li Wei"])
    {'eva@example.org': 'worker-1', 'rater3': 'rater3', '': '', 'Li Wei': 'worker-2'}
    """
    named: dict[str, str] = {}
    taken = set(names := list(names))
    counted = 0
    for name in names:
        if name in named:
            continue
        if not name or (_CODE.fullmatch(name) and not _PLATFORM.fullmatch(name)):
            named[name] = name
            continue
        counted += 1
        while f"worker-{counted}" in taken:
            counted += 1
        named[name] = f"worker-{counted}"
    return named
