"""Common words for the roles of rows."""

from collections.abc import Sequence

from leaderboard.imports.readers.judgments import Role
from leaderboard.imports.readers.names import plain

_WORDS: dict[Role, tuple[str, ...]] = {
    Role.JUDGMENT: ("judgment", "system", "tgt", "real", "normal", "main", "test_item", "regular", "approved", "submitted", "completed", "ip_address", "awaiting_review", "pending", "accept"),
    Role.REPEATED: ("repeated", "repeat", "chk", "duplicate"),
    Role.REFERENCE: ("reference", "ref"),
    Role.PLANTED: (
        "planted", "bad", "bad_ref", "attention", "attention_check", "check", "catch",
        "control", "gold", "quality_control", "calibration",
    ),
    Role.TUTORIAL: ("tutorial", "practice", "training", "example", "warmup", "warm_up", "onboarding"),
    Role.FILL_UP: ("fill_up", "filler", "fillup"),
    Role.DOCUMENT: ("document",),
    Role.CANCELLED: (
        "cancelled", "canceled", "rejected", "excluded", "returned", "timed_out", "spam", "discarded", "reject", "ignore",
    ),
    Role.DRAFT: ("draft", "unfinished", "preview", "survey_preview", "survey_test"),
    Role.PREDICTION: ("prediction", "llm", "machine"),
    Role.SUPERSEDED: ("superseded",),
    Role.KEY: ("key",),
    Role.NAMES_SHOWN: ("names_shown",),
}  # fmt: skip
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0", "")
_ROLES = {word: role.value for role, words in _WORDS.items() for word in words}


def roles_of(
    words: Sequence[str], name: str = ""
) -> tuple[list[str] | None, list[str]]:
    """Return the role of each row, and the words that are no roles.

    An empty cell is a judgment, and rows with unknown words count as cancelled. Yes means
    the role in the column's name. The roles are None if the column has none.

    Examples
    --------
    >>> roles_of(["TGT", "BAD", ""])
    (['judgment', 'planted', 'judgment'], [])
    >>> roles_of(["news", "speech"])
    (None, ['news', 'speech'])
    >>> roles_of(["True", "False"], "is_practice")
    (['tutorial', 'judgment'], [])
    """
    named = [_ROLES[part] for part in plain(name).split("_") if part in _ROLES]
    if named and {word.lower() for word in words} <= {*_YES, *_NO}:
        return [named[0] if w.lower() in _YES else "judgment" for w in words], []
    different = sorted({word for word in words if word})
    # `calibration_fluency` is of the kind calibration
    keys = {w: plain(w) for w in different}
    keys = {w: k if k in _ROLES else k.partition("_")[0] for w, k in keys.items()}
    unknown = [word for word in different if keys[word] not in _ROLES]
    if len(unknown) == len(different):
        return None, unknown
    roles = {"": "judgment"} | {w: _ROLES.get(k, "cancelled") for w, k in keys.items()}
    return [roles[word] for word in words], unknown
