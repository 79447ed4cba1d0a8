"""The role of a column by itself: from its name and its values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leaderboard.imports.readers.names import (
    PERSONAL,
    Floats,
    is_nothing,
    moments,
    numbers,
    plain,
    stated_scale,
)
from leaderboard.imports.readers.roles import roles_of
from leaderboard.imports.readers.words import is_sided, scale_of

#: Roles of the columns that hold answers.
MEASURES = ("rating", "choice", "best", "worst")


#: Columns that every table of several files has.
OF_FILE = ("file", "folder")


#: Cells that say that a box is not marked.
UNMARKED = frozenset(("", "0", "0.0", "false", "no", "off", "na", "nan", "none"))


#: Texts of places that no output fills.
FILLERS = frozenset(("blank", "empty", "filler", "dummy", "padding", "placeholder"))


#: Values of a column that the guess looks at, from the beginning of each file.
MOST_VALUES = 5_000


# A column with more different words holds no ratings.
_MOST_WORDS = 9


# Longer cells are texts, on average.
LONG = 60


_PERSON = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}|(?:\d{1,3}\.){3}\d{1,3}")


_HASH = re.compile(r"(?=.*\d)[0-9a-fA-F-]{16,}|[0-9a-zA-Z_]*[0-9a-fA-F]{24,}")


WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


_PREFIX = re.compile(
    r"^(input|answer|output|assignment|golden|hint)[.:](?=.)", re.IGNORECASE
)


_CODED = re.compile(r"(?=.*\d)[\w-]+")


# Argilla's and Label Studio's keys.
_BY_PROGRAM = re.compile(r"(suggestion|prediction)s?[.\[]")


# LimeSurvey's code before a question.
_CODE = re.compile(r"([\w\[\]]+)\. ")


_OF_ANSWERS = re.compile(r"^(answer|output|label_annotations)[.:]", re.IGNORECASE)


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Names by role: words of a column's name, of which one is enough.
RATER = word_set(
    "worker annotator rater judge evaluator participant coder assessor respondent labeler "
    "bewerter gutachter annotateur juge evaluateur evaluador anotador "
    "labeller user subject expert pid workerid prolific completed annotatorid raterid who "
    "reviewer"
)  # fmt: skip


RATING = word_set(
    "rating ratings score scores judgment judgement value likert slider grade stars points "
    "adequacy accuracy appropriateness clarity coherence coherent consistency consistent "
    "correct correctness coverage engaging engagement empathy factuality faithfulness fluency "
    "fluent grammar grammatical grammaticality helpful helpfulness humanness informative "
    "informativeness interesting likability meaning natural naturalness nonredundancy overall "
    "quality readability relevance relevant redundancy safety semantic sense simplicity specific "
    "structure style truthfulness understandability understandable usefulness useful difficulty "
    "ease confidence understanding satisfaction creativity novelty plausibility logic nat inf "
    "qual flu ade adq coh con rel fluenza verstaendlichkeit natur informativity faithful "
    "accept completeness conciseness toxicity bias harmlessness diversity preservation transfer"
)  # fmt: skip


CHOICE = word_set(
    "preferred preference winner choice better vote prefer chosen selection best verdict"
)


# Numbers with these words in their names are no ratings.
COUNTED = word_set(
    "id ids idx index row n count counts total num number no length len tokens chars time timer "
    "seconds duration click clicks page latitude longitude x y width height seed batch version "
    "year age trust reward price cost p weight prob probability logprob nll loss perplexity ppl "
    "bleu rouge bertscore meteor chrf comet z std sd var turn flip day session hit approval "
    "lifetime birth zip phone first last submit size rank order position pos place wins hints "
    "progress finished status inner project unread thumbs steps attempts unnamed ranking flip "
    "interviewtime"
)  # fmt: skip


# In a name that has a rating's word, too.
_PROGRAM = word_set("llm auto automatic automated predicted")


_METADATA = word_set(
    "hitid hittypeid title description keywords reward creationtime maxassignments "
    "requesterannotation assignmentdurationinseconds autoapprovaldelayinseconds expiration "
    "numberofsimilarhits lifetimeinseconds assignmentid assignmentstatus autoapprovaltime "
    "approvaltime rejectiontime requesterfeedback lifetimeapprovalrate last30daysapprovalrate assignmentlink "
    "last7daysapprovalrate approve reject status progress distributionchannel "
    "userlanguage consent language domain dataset category lastpage startlanguage refurl"
)  # fmt: skip


_COMMENT = word_set(
    "comment comments commentaire commentaires kommentar comentario note notes feedback "
    "reason reasons justification remark remarks"
)


# Codes of yes or no that say that a row is a test or practice: `is_onboarding`.
_IS_KIND = word_set(
    "onboarding practice training tutorial warmup attention control catch gold planted "
    "duplicate filler preview"
)


_EXACT: Mapping[str, tuple[str, ...]] = {
    "seconds": ("work_time_in_seconds", "worktimeinseconds", "duration_in_seconds", "seconds",
                "lead_time", "time_spent", "work_time", "time_taken", "work_seconds"),
    "began": ("accepttime", "accept_time", "started_at", "start_time", "accepted_at",
              "startdate", "assignment_started"),
    "time": ("submittime", "submit_time", "submitted_at", "timestamp", "created_at", "at",
             "enddate", "recordeddate", "tstamp", "end_time", "date", "zeitstempel",
             "submitdate", "datestamp"),
    "criterion": ("criterion", "aspect", "dimension", "criteria", "attribute", "measure"),
    "page": ("page", "hit", "screen", "page_id"),
    "document": ("document", "doc", "doc_id", "docid", "document_id", "rid"),
    "kind": ("role", "type", "item_type", "itemtype", "kind", "status", "assignmentstatus",
             "assignment_status"),
    "counts": ("counts", "finished"),
    "order": ("order", "place", "position"),
    "rater": ("workerid", "worker_id", "prolific_pid", "participant_id", "completed_by", "token",
              "responseid"),
    "item": ("id", "idx"),
}  # fmt: skip


_PLACES = {exact: role for role, names in _EXACT.items() for exact in names}


@dataclass(frozen=True)
class Values:
    """The cells of a column, looked at once."""

    name: str
    words: list[str]

    @cached_property
    def answers(self) -> list[str]:
        cells = zip(self.words, is_nothing(self.words), strict=True)
        return [word.strip() for word, is_none in cells if not is_none]

    @cached_property
    def numbers(self) -> Floats:
        return numbers(self.answers)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.answers)

    @cached_property
    def guess(self) -> tuple[str, str]:
        return role_of(self)

    @cached_property
    def is_number(self) -> bool:
        return bool(self.answers) and float(np.isnan(self.numbers).mean()) < 0.2

    @property
    def length(self) -> float:
        return sum(map(len, self.answers)) / max(len(self.answers), 1)

    @property
    def is_yes_no(self) -> bool:
        return {word.lower() for word in self.counts} <= _YES_NO

    @property
    def has_few(self) -> bool:
        return len(self.counts) <= _MOST_WORDS

    @property
    def is_coded(self) -> bool:
        """Check for codes of people: `W3`, `student_02`, or hashes."""
        return len(self.counts) > 1 and all(map(_CODED.fullmatch, self.counts))

    @cached_property
    def name_words(self) -> list[str]:
        last = _PREFIX.sub("", self.name).rstrip("]0123456789[").rpartition(".")[2]
        words = [w.lower() for w in WORDS.findall(last)]
        return [w for w in words if not w.isdigit()] or words

    @property
    def is_rated_name(self) -> bool:
        answer = _OF_ANSWERS.match(self.name) or stated_scale(self.name)
        return bool(self.name_words_rated or answer)

    @property
    def name_words_rated(self) -> set[str]:
        return ({*self.name_words} - COUNTED) & RATING

    def says(self, words: frozenset[str]) -> bool:
        """Check whether the name has one of some words; a whole question has any."""
        return len(self.name_words) <= 5 and not words.isdisjoint(self.name_words)


Guess = tuple[str, str]


# Reasons for which values do not matter.
_FROM_NAME = (
    "by its name",
    "numbers named",
    "it describes",
    "it identifies",
    "comments",
)


def role_of(one: Values) -> Guess:
    """Return the role of a column by itself, with the reason."""
    if code := _CODE.match(one.name):
        role, reason = role_of(Values(code[1], one.words))
        if reason.startswith(_FROM_NAME):
            return role, reason
    name = plain(_PREFIX.sub("", one.name))
    last = plain(one.name.replace("]", "").rpartition(".")[2])
    if not one.answers:
        return "ignore", "it is empty"
    if name in PERSONAL or last in PERSONAL or any(map(_PERSON.fullmatch, one.counts)):
        return "ignore", "it identifies people"
    for known in (name, last):
        if known in _PLACES and _fits(_PLACES[known], one):
            return _PLACES[known], "by its name"
        if known.replace("_", "") in _METADATA and not _OF_ANSWERS.match(one.name):
            return "ignore", "it describes the task or the session, not an output"
    if _BY_PROGRAM.match(one.name):
        return "ignore", "suggestions of a program"
    if one.name_words[:1] == ["is"] and one.says(_IS_KIND) and one.is_yes_no:
        return "kind", "by its name and yes or no"
    if one.says(_COMMENT) and not one.is_number:
        return "ignore", "comments, by their name"
    for role, words, fits in _BY_NAME:
        if one.says(words) and fits(one):
            return role, f"by its name and values such as {examples_of(one)[0]}"
    if not one.is_number:
        return _role_of_words(one)
    return _role_of_numbers(one)


def _fits(role: str, one: Values) -> bool:
    if role in ("time", "began"):
        return _is_moment(one)
    if role == "kind":
        return roles_of(one.answers)[0] is not None
    if role == "document":
        return one.length < LONG
    return role != "order" or one.is_number


def is_group(one: Values) -> bool:
    """Check for names of which most come again, or a short list of different names."""
    n = len(one.counts)
    decimals = one.is_number and bool((one.numbers % 1 != 0).any())
    return (
        one.length <= LONG and not decimals and (n <= 0.7 * len(one.answers) or n < 40)
    )


def names_item(one: Values) -> bool:
    """Check for an id of what was judged, by its name."""
    other = word_set("session run task hit assignment batch annotation response view")
    return "id" in one.name_words and not one.says(other | RATER) and is_group(one)


def _is_text(one: Values) -> bool:
    return not one.is_number and one.length > 15 and len(one.counts) > 1


def _is_moment(one: Values) -> bool:
    # smaller numbers are no moments, not even 20200131
    small = one.is_number and np.nanmax(one.numbers) < 1e7
    return not small and not np.isnan(moments(one.answers[:50])).all()


def _is_item(one: Values) -> bool:
    words = one.name_words
    named = "id" in words or words[-1:] == ["ix"] or len(words) == 1
    return named and one.length <= LONG and not one.is_rated_name


def _is_system(one: Values) -> bool:
    if one.says(CHOICE) or set(one.counts) <= {"0", "1", "0.0", "1.0"}:
        return False
    other = one.says(word_set("output response text confidence prompt mapping"))
    other |= len(one.name_words) > 2 and one.says(word_set("version type"))
    return is_group(one) and (not other or one.says(word_set("id name sys")))


def _is_rater(one: Values) -> bool:
    if _is_numbered_rating(one) or (one.name_words_rated and one.has_few):
        return False
    return one.length <= LONG and not one.says(
        word_set("time type name score rating gender age country")
    )


def _is_numbered_rating(one: Values) -> bool:
    """Check for `annotator2`, which holds what the second annotator said."""
    few = one.is_number and len(one.counts) <= _MOST_WORDS + 2
    return few and one.name[-1:].isdigit() and "id" not in one.name_words


_BY_NAME: tuple[tuple[str, frozenset[str], Callable[[Values], bool]], ...] = (
    (
        "system",
        word_set(
            "modell modele systeme sistema modelo system systems sys model models submission "
            "bot engine method systema systemb mechanism"
        ),
        _is_system,
    ),
    ("rater", RATER, _is_rater),
    (
        "choice",
        CHOICE,
        lambda one: (
            is_sided(one.counts, only=len(one.counts) < 2 < len(one.answers))
            and not one.says(COUNTED)
        ),
    ),
    (
        "seconds",
        word_set("seconds duration lead spent elapsed"),
        lambda one: one.is_number,
    ),
    ("order", word_set("order position pos place"), lambda one: one.is_number),
    (
        "item",
        word_set(
            "item instance segment seg sid example sample story sentence sent prompt question pair mr "
            "passage ix itemid dialogue dialog query conversation ref hash guid"
        ),
        _is_item,
    ),
    ("reference", word_set("reference ref gold references grounding"), _is_text),
    (
        "text",
        word_set(
            "output response prediction hypothesis hyp target translation summary answer generated "
            "candidate text reply simp story caption paraphrase explanation sentence generation"
        ),
        lambda one: _is_text(one) and "id" not in one.name_words,
    ),
    (
        "source",
        word_set(
            "source src input prompt context article document orig history question dialogue "
            "fact mr passage"
        ),
        _is_text,
    ),
    (
        "time",
        word_set(
            "time timestamp date created submit submitted updated start started end zeitstempel "
            "recorded tstamp accept"
        ),
        _is_moment,
    ),
)


def _role_of_words(one: Values) -> Guess:
    n = len(one.counts)
    leading = all(map(_LEADING.match, one.counts))
    if n <= _MOST_WORDS and (leading or scale_of(one.counts)):
        return "words", f"{OF_SCALE}: {', '.join(examples_of(one))}"
    if one.length > LONG or (n > _MOST_WORDS and one.length > 25):
        return "ignore", "free text"
    if n == len(one.answers) > 2 or n == 1:
        return "ignore", NO_WORDS
    if n > _MOST_WORDS:
        again = one.length < LONG / 2 and n <= len(one.answers) / 2
        return "ignore", AGAIN if again else NO_WORDS
    if one.is_rated_name or one.is_yes_no:
        words = ", ".join(sorted(one.counts)[:4])
        return "words", f"by its name and few words: {words}"
    return "ignore", AGAIN


# A number before its meaning: `4 - good`.
_LEADING = re.compile(r"[-+]?\d{1,2}\s*[-–:=.)(]\s*[^\W\d]")


OF_SCALE = "words of a scale"
AGAIN = "a few words that come again"
LIKELY = "a few words that come again, as those of systems may"
STANDARDIZED = "standardized scores, which are derived from ratings"


UNNAMED = ", but other columns are named as ratings"
NO_WORDS = "words that are no ratings"
_YES_NO = word_set("yes no true false 0 1")


def _role_of_numbers(one: Values) -> Guess:
    found = one.numbers[~np.isnan(one.numbers)]
    distinct = np.unique(found)
    whole = bool((found % 1 == 0).all())
    if reason := _no_rating(one, found, distinct, whole):
        return "ignore", reason
    where = f"{distinct[0]:g} to {distinct[-1]:g}"
    if one.is_rated_name or (one.says(RATER) and _is_numbered_rating(one)):
        return "rating", f"by its name and numbers from {where}"
    return "maybe", f"few numbers, {where}"


def _no_rating(one: Values, found: Floats, distinct: Floats, whole: bool) -> str:
    rated = one.is_rated_name
    counted = set(one.name_words) & COUNTED
    if one.name_words_rated and (program := {*one.name_words} & _PROGRAM):
        return f"ratings by a program, as “{sorted(program)[0]}” says"
    if counted and (one.name_words_rated == set() or not _OF_ANSWERS.match(one.name)):
        first = "id" if "id" in counted else sorted(counted)[0]
        return f"numbers named “{first}”, which are no ratings"
    n = len(found)
    steps = np.diff(found)
    if not rated and whole and len(distinct) == n > 3 and bool((steps == 1).all()):
        return "it counts the rows"
    if whole and distinct[-1] - distinct[0] > 1_000 and not rated:
        return "numbers of this size are ids or counts"
    if not whole and distinct[0] < 0 < distinct[-1] < 6:
        return STANDARDIZED
    if not whole and len(distinct) > 20 and not rated:
        return "decimal numbers, as programs compute"
    if len(distinct) > 101 and not rated:
        return "too many different numbers for ratings"
    return ""


def examples_of(one: Values) -> tuple[str, ...]:
    return tuple(word[:40] for word, _ in one.counts.most_common(3))


def lower_words(text: str) -> list[str]:
    return [word.lower() for word in WORDS.findall(text)]
