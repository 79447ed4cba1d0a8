"""Guess the role of each column by its name and values."""

import re
from collections.abc import Mapping, Sequence

from genie.lib.formats import is_conversation
from leaderboard.files import Problem
from leaderboard.tables import Cell, Table
from leaderboard.tasks.intake.roles import (
    CODE,
    CONVERSATION,
    ID,
    IGNORED,
    INPUT,
    MARKDOWN,
    NAMES,
    OUTPUT,
    REFERENCE,
    SYSTEM,
    TEXT,
    Said,
    Use,
)

_IDS = {
    *("id", "key", "uid", "uuid", "guid", "qid", "index", "idx", "nr", "no", "number"),
    *("instance", "item", "segid", "docid", "sampleid", "exampleid", "questionid"),
    *("instanceid", "itemid", "promptid", "rowid"),
}
_REFERENCES = {
    *("reference", "references", "ref", "refs", "gold", "golds", "target", "targets"),
    *("human", "humanreference", "expected", "groundtruth", "label", "goldanswer"),
    *("goldanswers", "goldreference", "expectedoutput", "idealanswer"),
}
_INPUTS = {
    *("source", "src", "input", "inputs", "question", "prompt", "context", "document"),
    *("article", "passage", "instruction", "query", "premise", "conversation", "story"),
    *("dialogue", "dialog", "history", "messages", "title", "obs1", "obs2", "text"),
    *("sourcetext", "userprompt", "systemprompt", "abstract", "paragraph", "sentence"),
    *("meaningrepresentation", "mr", "concepts", "keywords", "data", "table"),
    # files with one text per line are named for their content
    *(
        "sources",
        "questions",
        "prompts",
        "contexts",
        "documents",
        "articles",
        "queries",
    ),
}
_OUTPUTS = {
    *("output", "outputs", "prediction", "predictions", "response", "responses"),
    *("hypothesis", "hyp", "generated", "generation", "generatedtext", "candidate"),
    *("mt", "reply", "modeloutput", "systemoutput", "pred", "result"),
}
# Inputs, unless a file has no other column and another file has the inputs.
_WEAK = {"text", "sentence", "data", "paragraph", "title"}
# A reference beside systems, and an output if there is no other.
_EITHER = {"answer", "answers", "summary", "translation", "completion", "highlights"}
_NAMES = {
    *("system", "model", "modelname", "systemname", "systemid", "modelid", "method"),
    "generator",
}
_ASIDE = {
    *("split", "lang", "language", "date", "timestamp", "time", "url", "category"),
    *("topic", "domain", "meta", "metadata", "tags", "comment", "notes", "score"),
    *("rating", "length", "seed", "temperature", "tokens", "type", "difficulty"),
}
_PREFIX = re.compile(
    r"(?:output|system|sys|model|pred|prediction|hyp|response|candidate|answer)"
    r"[ _.:-]+(\S.*)",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"(.*\S)[ _.:-]+(?:output|outputs|pred|prediction|hyp|response|answer)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+(?:[eE][-+]?[0-9]+)?%?")
_MARKDOWN = re.compile(r"^(?:#{1,6} |```|\s*[-*] \S|\s*\d+\. \S|\|.*\|$)|\*\*\S", re.M)
_CODE = re.compile(
    r"^\s*(?:def |class |import |from \w+ import |return\b|#include|public |function |"
    r"const |let |var |SELECT |if \(|for \(|\}|@\w+)|[;{]\s*$",
    re.M,
)
_KNOWN = {
    word: role
    for role, words in (
        ("either", _EITHER),
        (IGNORED, _ASIDE),
        (NAMES, _NAMES),
        (OUTPUT, _OUTPUTS),
        (INPUT, _INPUTS),
        (REFERENCE, _REFERENCES),
        (ID, _IDS),
    )
    for word in words
}
_LOOKED_AT = 50
ONLY_NUMBERS = "left out, because it has only numbers"
WORDS = {
    ID: "names the row",
    INPUT: "input",
    REFERENCE: "reference",
    SYSTEM: "output of a system",
    NAMES: "says whose output it is",
    OUTPUT: "output",
    IGNORED: "left out",
}


def guess(
    tables: Sequence[Table], said: Said | None = None, settled: Sequence[Use] = ()
) -> tuple[list[Use], list[Problem]]:
    """Guess the role of each column of each file.

    Parameters
    ----------
    said : Said, optional
        Roles that a person chose; they override every guess.
    settled : sequence of Use
        Columns that a person has checked, file by file; they are kept.

    Returns
    -------
    tuple of list of Use and list of Problem
        In the order of files and columns, with problems for files without usable roles.
    """
    said = said or Said()
    differing = _differing_columns(tables)
    uses = [
        use for table in tables for use in _of_table(table, tables, differing, said)
    ]
    stays = {(use.file, use.column): use for use in settled}
    uses = [stays.get((use.file, use.column), use) for use in uses]
    return uses, [*said.problems(tables), *_lacks(tables, uses)]


def _lacks(tables: Sequence[Table], uses: Sequence[Use]) -> list[Problem]:
    file = tables[0].file if len(tables) == 1 else ""
    roles = {use.role for use in uses}
    names = ", ".join(f"“{use.column}”" for use in uses[:8])
    no_system = Problem(
        "no-system-column",
        f"no column looks like a system's outputs among {names}; say which ones do",
        file,
    )
    no_input = Problem(
        "no-input-column",
        "no column looks like an input that people can judge outputs against; say "
        "which one is",
        file,
    )
    lacks = [no_system] * roles.isdisjoint((SYSTEM, OUTPUT))
    return lacks + [no_input] * (INPUT not in roles)


def _plain(column: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", column.lower())


def _differing_columns(tables: Sequence[Table]) -> dict[str, bool]:
    values: dict[str, list[list[str]]] = {}
    for table in tables:
        for name in table.columns:
            values.setdefault(name, []).append(sorted(map(str, table.values(name))))
    return {name: any(one != v[0] for one in v) for name, v in values.items()}


def _of_table(
    table: Table, tables: Sequence[Table], differing: Mapping[str, bool], said: Said
) -> list[Use]:
    roles = {name: _by_name(name, table) for name in table.columns}
    if len(tables) > 1:
        roles |= _among_files(table, roles, differing)
        roles |= _alone(roles, tables)
    roles = _in_context(table, roles)
    roles = _apply_corrections(table, roles, said)
    systems = [name for name, role in roles.items() if role == SYSTEM]
    affixed = all(map(_affix, systems))
    return [
        Use(
            table.file,
            name,
            role,
            _system_name(table, name, role, said, affixed=affixed),
            said.formats.get(name)
            or (said.formats.get(OUTPUT, "") if role in {SYSTEM, OUTPUT} else "")
            or format_of(table.values(name)),
            _reason(table, name, role, said),
        )
        for name, role in roles.items()
    ]


def _by_name(name: str, table: Table) -> str:
    plain = re.sub(r"^(ref|reference|gold)\d{1,2}$", r"\1", _plain(name))
    known = _KNOWN.get(plain) or ("prefixed" if _affix(name) else "")
    # The same text throughout may be a poor system; numbers are no texts to rate.
    return known or (IGNORED if _is_numeric(table, name) else "")


def _is_numeric(table: Table, name: str) -> bool:
    values = table.values(name)
    return all(isinstance(v, str) and _NUMBER.fullmatch(v.strip()) for v in values)


def _reason(table: Table, name: str, role: str, said: Said) -> str:
    if said.role_of(name):
        return "as you said"
    left_out = role == IGNORED and _is_numeric(table, name)
    return ONLY_NUMBERS if left_out else WORDS[role]


def _among_files(
    table: Table, roles: Mapping[str, str], differing: Mapping[str, bool]
) -> dict[str, str]:
    """Take a column that every file has, with different values, as their output."""
    fixed = {ID, IGNORED, OUTPUT, NAMES}
    fixed |= {INPUT, REFERENCE} if len(table.columns) > 2 else set()
    return {
        name: OUTPUT
        for name, role in roles.items()
        if role not in fixed and differing[name]
    }


def _alone(roles: Mapping[str, str], tables: Sequence[Table]) -> dict[str, str]:
    texts = [name for name, role in roles.items() if role not in {ID, IGNORED}]
    names = {_plain(name) for table in tables for name in table.columns}
    is_output = len(texts) == 1 and not names.isdisjoint(_INPUTS - _WEAK)
    weak = [name for name in texts if not roles[name] or _plain(name) in _WEAK]
    return dict.fromkeys(weak, OUTPUT) if is_output else {}


def _in_context(table: Table, roles: Mapping[str, str]) -> dict[str, str]:
    found = dict(roles)
    long = _is_long(table, found)
    if NAMES in found.values() and not long:
        found = {n: IGNORED if role == NAMES else role for n, role in found.items()}
    unknown = [name for name, role in found.items() if not role]
    either = [name for name, role in found.items() if role == "either"]
    has = set(found.values())
    systems = [name for name, role in found.items() if role == "prefixed"]
    if len(systems) == 1 and unknown:
        # One name that only looks so, such as Echo-Answer beside Ada: all are systems.
        unknown = [name for name in found if name in {*unknown, *systems}]
        systems = []
    if OUTPUT not in has and not systems:
        if INPUT not in has and len(unknown) + len(either) > 1 and unknown:
            found[unknown.pop(0)] = INPUT
        if either and not unknown:
            found[either.pop(0)] = OUTPUT
        else:
            systems = unknown
    found |= dict.fromkeys(either, REFERENCE) | dict.fromkeys(systems, SYSTEM)
    if not long and [*found.values()].count(OUTPUT) > 1:
        found = {n: SYSTEM if r == OUTPUT else r for n, r in found.items()}
    return {name: role if role in WORDS else IGNORED for name, role in found.items()}


def _is_long(table: Table, roles: Mapping[str, str]) -> bool:
    names = [name for name, role in roles.items() if role == NAMES]
    if not names or not any(role in {OUTPUT, "either"} for role in roles.values()):
        return False
    values = table.values(names[0])
    return len({str(value) for value in values}) < len(values)


def _apply_corrections(
    table: Table, roles: Mapping[str, str], said: Said
) -> dict[str, str]:
    found = {}
    for name, role in roles.items():
        given = said.role_of(name)
        closed = not given and said.closes(role)
        if role == OUTPUT and said.systems and not given:
            # A file that is named as a system keeps its one output.
            closed = not {table.file, table.stem} & {*said.systems}
        found[name] = given or (IGNORED if closed else role)
    if NAMES in found.values() and SYSTEM in found.values():
        # Another column has the system's name, so the column of texts is an output.
        found = {n: OUTPUT if r == SYSTEM else r for n, r in found.items()}
    return found


def _system_name(
    table: Table, column: str, role: str, said: Said, *, affixed: bool
) -> str:
    if role == INPUT:
        return said.labels.get(column) or _label(column)
    if role == SYSTEM:
        given = said.systems.get(column)
        return given or (_system(column) if affixed else column[:100])
    if role == OUTPUT:
        given = said.systems.get(table.file) or said.systems.get(table.stem)
        return given or table.stem
    return ""


def _affix(column: str) -> re.Match[str] | None:
    return _PREFIX.fullmatch(column) or _SUFFIX.fullmatch(column)


def _system(column: str) -> str:
    """Return the name of a system from a column's header.

    Examples
    --------
    >>> _system("output_gpt-4"), _system("Ferry prediction"), _system("Model A")
    ('gpt-4', 'Ferry', 'Model A')
    """
    match = _affix(column)
    name = match[1] if match else column
    # "Model A" is a name; "A" alone is less clear than the header
    return (name if len(name) > 1 else column).strip()[:100]


def _label(column: str) -> str:
    words = re.sub(r"[_\W]+", " ", column).strip() or column
    return f"{words[0].upper()}{words[1:]}"[:100]


def format_of(values: Sequence[Cell]) -> str:
    """Guess the format for displaying texts.

    Examples
    --------
    >>> format_of(["**Yes**, it is.", "# No"]), format_of(["def f():", "return 1;"])
    ('markdown', 'code')
    >>> format_of(["Yes.", "No."])
    'text'
    """
    if any(is_conversation(value) for value in values):
        return CONVERSATION
    texts = [value for value in values if isinstance(value, str)][:_LOOKED_AT]
    for form, pattern, least in ((MARKDOWN, _MARKDOWN, 0.3), (CODE, _CODE, 0.6)):
        if texts and sum(map(bool, map(pattern.search, texts))) >= least * len(texts):
            return form
    return TEXT
