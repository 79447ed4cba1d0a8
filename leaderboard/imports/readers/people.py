"""What people are called once their files are in."""

import re
from collections.abc import Iterable

# A code that a tool or an organiser gave: it has a number and is short.
_CODE = re.compile(r"(?=.*\d)[\w.#-]{1,16}", re.ASCII)
# What platforms give and others could look up: MTurk's, and hexadecimal ones as Prolific's.
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
    """Tell whether a name is a language model's: nobody can tell it from a hash.

    Examples
    --------
    >>> is_program("gpt-4"), is_program('["gpt-4", "pair-v2"]'), is_program("expert_4")
    (True, True, False)
    """
    return _PROGRAM.fullmatch(name) is not None


def without_people(text: str) -> str:
    """Take addresses of people, and what a platform calls them, out of a sentence.

    Examples
    --------
    >>> without_people("ratings.csv, row 3: 'eva@example.org' is not a number.")
    "ratings.csv, row 3: '…' is not a number."
    """
    return _WITHIN.sub("…", text)


def kept_name(path: str) -> str:
    """Name a file without its folders: tools have a folder for each person.

    Examples
    --------
    >>> kept_name("annotation_output/eva@example.org/user_state.json")
    'user_state.json'
    """
    return without_people(path.rpartition("/")[2])


def pseudonyms(names: Iterable[str]) -> dict[str, str]:
    """Give each person a name that says nothing of them.

    Parameters
    ----------
    names : iterable of str
        As in the file: names, e-mail addresses, ids of a platform, or codes.

    Returns
    -------
    dict of str to str
        In the order in which they first came. Codes of a tool ("rater3") stay; all others
        are counted: "worker-1", ... An empty name stays empty.

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
