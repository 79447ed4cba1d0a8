"""The role of a column by itself: from its name and its values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
from leaderboard.imports.readers.words import (
    YES_NO,
    is_sided,
    scale_of,
    side_of,
    worths,
)

#: Roles of the columns that hold answers.
MEASURES = ("rating", "choice", "best", "worst")

#: Columns that every table of several files has.
OF_FILE = ("file", "folder", "folder 2")

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

WORDS = re.compile(r"[A-ZÀ-Þ]+(?![a-zß-ÿ])|[A-ZÀ-Þ]?[a-zß-ÿ]+|\d+|[^\W\d_a-zA-ZÀ-ÿ]+")

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
    "labeller user subject expert pid uid initials 评分人 标注员 标注者 评估者 評価者 асессор разметчик 평가자 "
    "évaluateur workerid prolific completed annotatorid raterid who "
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
    "accept completeness conciseness toxicity bias harmlessness diversity preservation transfer "
    "acceptability answerability attractiveness authenticity cleverness cohesion cohesive "
    "comprehensibility comprehensiveness concise contradiction credibility engagingness enjoyment "
    "error errors fidelity hallucination hallucinations harmfulness honesty intelligibility "
    "legibility likeability logical meaningfulness mistakes originality persuasiveness politeness "
    "readable sensibleness solvability soundness thoroughness trustworthiness verbosity "
    "magnitude adequate completeness complete groundedness grounded supported empathetic tone "
    "flüssigkeit verständlichkeit kohärenz relevanz qualität natürlichkeit korrektheit "
    "angemessenheit grammatik lesbarkeit vollständigkeit genauigkeit bewertung punkte fluidez "
    "adecuación coherencia relevancia calidad gramaticalidad fidelidad naturalidad claridad "
    "utilidad puntuación valoración fluidité adéquation cohérence pertinence qualité clarté "
    "fidélité fluência adequação coerência relevância qualidade fluidità coerenza qualità "
    "流畅度 流畅性 准确性 准确度 相关性 一致性 连贯性 评分 得分 分数 质量 信息量 有用性 忠实度 "
    "流暢性 妥当性 正確性 評価 スコア 自然さ беглость адекватность оценка качество связность "
    "유창성 정확성 점수 관련성"
)  # fmt: skip

SYSTEM = word_set(
    "modell modele systeme sistema modelo system systems sys model models submission "
    "bot engine method systema systemb mechanism chatbot algorithm sysname sysid systemname "
    "systemid modelname modelid llm agent système 系统 模型 模型名称 モデル システム "
    "система модель 시스템 모델"
)  # fmt: skip

CHOICE = word_set(
    "preferred preference winner choice better vote prefer chosen selection best verdict"
)

RANKS = word_set("rank ranks ranking")

# Numbers with these words in their names are no ratings.
COUNTED = word_set(
    "id ids idx index row n count counts total num number no length len tokens chars time timer "
    "seconds duration click clicks page latitude longitude x y width height seed batch version "
    "year age reward minutes hours msec rt latency price cost p weight prob probability logprob nll loss perplexity ppl "
    "bleu rouge bertscore meteor chrf comet z std sd var turn flip day session hit approval "
    "lifetime birth zip phone first last submit size rank order position pos place wins hints "
    "progress finished status inner project unread thumbs steps attempts unnamed ranking flip "
    "interviewtime normalized normalised"
)  # fmt: skip

# In a name that has a rating's word, too, or above it: `auto_evaluation.confidence`.
_PROGRAM = word_set("llm auto automatic automated predicted")
_ABOVE = (_PROGRAM - {"llm"}) | word_set("metadata config params parameters settings")

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
IS_KIND = word_set(
    "onboarding practice training tutorial warmup attention control catch gold planted "
    "filler preview"
)

#: Names of columns that may name parts of systems.
CONDITION = word_set(
    "architecture policy variant condition approach generator setup setting strategy version"
)

#: Names of columns that may name criteria.
QUESTION = word_set(
    "question item aspect metric measure dimension category attribute statement scale "
    "subscale variable property facet"
)

_KINDS = ("kind", "type", "status", "phase")

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
    "item": ("id", "idx", "ranked_item"),
    "rating": ("ranked_system_rank",),
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
        """The answers as numbers, also those of a few words such as `4 - good`."""
        leading = self.has_few and all(map(_LEADING.match, self.counts))
        return worths(self.answers, {}) if leading else numbers(self.answers)

    @cached_property
    def floats(self) -> Floats:
        """All cells as numbers: NaN for words and for empty ones."""
        return numbers(self.words)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.answers)

    @cached_property
    def guess(self) -> tuple[str, str]:
        return role_of(self)

    @cached_property
    def is_number(self) -> bool:
        return bool(self.answers) and float(np.isnan(self.numbers).mean()) < 0.2

    @cached_property
    def n_parts(self) -> int:
        """The least n if all numbers are multiples of 1/n, as means of n raters, or 0."""
        found = self.numbers[~np.isnan(self.numbers)]
        near = (abs(found * n - np.round(found * n)) < 0.0035 * n for n in range(1, 11))
        return next((n for n, fit in enumerate(near, 1) if fit.size and fit.all()), 0)

    @property
    def kind(self) -> tuple[bool, int]:
        """Whether numbers are 0 and 1 only, and whether they are whole (1) or means (2)."""
        return {*self.counts} <= {"0", "1", "0.0", "1.0"}, min(self.n_parts, 2)

    @property
    def length(self) -> float:
        return sum(map(len, self.answers)) / max(len(self.answers), 1)

    @property
    def is_yes_no(self) -> bool:
        # letters alone may be codes
        return _LETTERS < ({*map(str.lower, self.counts)} | _LETTERS) <= _YES_NO

    @cached_property
    def is_even(self) -> bool:
        """Check for values that come equally often, as those of a design do."""
        n = np.array([*self.counts.values()])
        spread = ((n - n.mean()) ** 2).sum() / n.mean() if n.size else 0
        return len(n) > 1 < n.min() and spread <= 0.2 * (len(n) - 1) * (len(n) > 3)

    @property
    def has_few(self) -> bool:
        return len(self.counts) <= _MOST_WORDS

    @property
    def is_no_rating(self) -> bool:
        """Check for comments, texts, and one word in all rows."""
        words = bool(self.answers) and bool(np.isnan(self.numbers).all())
        few = 1 < len(self.counts) <= _MOST_WORDS
        return (words and not few) or (self.says(_COMMENT) and not self.is_number)

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
Found = dict[str, Guess]
Looked = Mapping[str, Values]

# Reasons for which values do not matter.
_FROM_NAME = (
    "by its name",
    "numbers named",
    "it describes",
    "it identifies",
    "comments",
)


def role_of(one: Values) -> Guess:
    found: Guess = next(filter(None, _guesses_of(one)))
    return found


def _guesses_of(one: Values) -> Iterator[Any]:
    code = _CODE.match(one.name)
    inner = role_of(Values(code[1], one.words)) if code else ("", "")
    yield inner[1].startswith(_FROM_NAME) and inner
    name = plain(_PREFIX.sub("", one.name))
    last = plain(one.name.replace("]", "").rpartition(".")[2])
    yield not one.answers and ("ignore", "it is empty")
    personal = not PERSONAL.isdisjoint((name, last))
    personal = personal or any(map(_PERSON.fullmatch, one.counts))
    yield personal and ("ignore", "it identifies people")
    for known in (name, last):
        role = _PLACES.get(known, "")
        yield role and _FITS.get(role, bool)(one) and (role, "by its name")
    yield _BY_PROGRAM.match(one.name) and ("ignore", "suggestions of a program")
    again = (
        one.says(QUESTION) and one.has_few and 1 < len(one.counts) < len(one.answers)
    )
    rated = [bool(RATING & {*lower_words(word)}) for word in one.counts if again]
    criteria = rated and not one.is_rated_name and 2 * sum(rated) >= len(rated)
    yield criteria and ("criterion", "its words are of criteria")
    about = not _OF_ANSWERS.match(one.name) and not _METADATA.isdisjoint(
        known.replace("_", "") for known in (name, last)
    )
    yield about and ("ignore", "it describes the task or the session, not an output")
    kind = one.name_words[:1] == ["is"] and one.says(IS_KIND) and one.is_yes_no
    yield kind and ("kind", "by its name and yes or no")
    ending = one.name_words[-1:] or [""]
    kinds = ending[0] in _KINDS and one.has_few and not roles_of(one.answers)[1]
    yield kinds and ("kind", "by its name and kinds of rows")
    comment = one.says(_COMMENT) and not one.is_number
    yield comment and ("ignore", "comments, by their name")
    for role, words, fits in _BY_NAME:
        fit = one.says(words) and fits(one)
        yield fit and (role, f"by its name and values such as {examples_of(one)[0]}")
    yield _role_of_numbers(one) if one.is_number else _role_of_words(one)


def is_group(one: Values) -> bool:
    """Check for names of which most come again, or a short list of different names."""
    n = len(one.counts)
    decimals = one.is_number and bool((np.nan_to_num(one.numbers) % 1 != 0).any())
    return (
        one.length <= LONG and not decimals and (n <= 0.7 * len(one.answers) or n < 40)
    )


def names_item(one: Values) -> bool:
    other = word_set("session run task hit assignment batch annotation response view")
    named = any(re.fullmatch(r"(?![upw])[a-z]?id", word) for word in one.name_words)
    return named and not one.says(other | RATER) and is_group(one)


def _is_text(one: Values) -> bool:
    return not one.is_number and one.length > 15 and len(one.counts) > 1


def _is_moment(one: Values) -> bool:
    # smaller numbers are no moments, not even 20200131
    small = one.is_number and np.nanmax(one.numbers) < 1e7
    return not small and not np.isnan(moments(one.answers[:50])).all()


def _is_item(one: Values) -> bool:
    words = one.name_words
    ends = ("ix", "no", "nr", "num", "number", "index", "key", "hash")
    named = "id" in words or words[-1] in ends or len(words) == 1
    several = len(one.counts) > 1 or one.length < 9 or len(one.answers) < 9
    return named and several and one.length <= LONG and not one.is_rated_name


_NUMBERED = word_set("id ids no nr num number idx index code key")


def _is_system(one: Values) -> bool:
    # answers may name systems: rank of system 1, or `3 - good` of it
    rated = one.says(RATING | RANKS | word_set("pos")) or one.answers[0][-1:].isalpha()
    other = one.says(
        word_set("output response text confidence prompt mapping time date")
    )
    other |= len(one.name_words) > 2 and one.says(word_set("version type"))
    other &= not one.says(word_set("id name sys"))
    rated |= one.is_number and bool(np.nanmin(one.numbers) < 0)
    # `sys1_brevity` is a number of system 1, and `sys_a` a system
    words = {word for word in one.name_words if len(word) > 1}
    rated |= one.has_few and not words <= SYSTEM | _NUMBERED
    other |= one.says(CHOICE) or one.kind[0] or (one.is_number and rated)
    return is_group(one) and not other


def _is_rater(one: Values) -> bool:
    other = one.says(
        word_set("time type score rating gender age country message query at")
    )
    other |= _is_numbered_rating(one) or bool(one.name_words_rated and one.has_few)
    return one.length <= LONG and not other


def _is_numbered_rating(one: Values) -> bool:
    few = one.is_number and len(one.counts) <= _MOST_WORDS + 2
    return few and one.name[-1:].isdigit() and "id" not in one.name_words


_FITS: Mapping[str, Callable[[Values], bool]] = {
    "time": _is_moment,
    "began": _is_moment,
    "kind": lambda one: roles_of(one.answers)[0] is not None,
    "document": lambda one: one.length < LONG,
    "order": lambda one: one.is_number,
}

_BY_NAME: tuple[tuple[str, frozenset[str], Callable[[Values], bool]], ...] = (
    (
        "system",
        SYSTEM,
        _is_system,
    ),
    ("rater", RATER, _is_rater),
    (
        "choice",
        CHOICE,
        lambda one: (
            {*one.counts} == {"0", "1"}
            if one.says(word_set("index idx"))
            else is_sided(one.counts, only=len(one.counts) < 2 < len(one.answers))
            and not one.says(COUNTED)
            and not (scale_of(one.counts) and not "".join(one.counts).isascii())
            and not (one.is_number and np.isnan(numbers([*one.counts])).any())
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
            "item instance stimulus stimuli segment seg sid segid docid example sample story sentence sent prompt question pair mr "
            "passage ix itemid dialogue dialog query conversation ref hash guid"
        ),
        _is_item,
    ),
    ("reference", word_set("reference ref gold references grounding"), _is_text),
    (
        "text",
        word_set(
            "output response prediction hypothesis hyp target translation summary answer generated "
            "candidate completions text reply simp story caption paraphrase explanation sentence generation"
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

_LETTERS = word_set("y n t f")

# Words of questions about raters.
_OF_PERSON = word_set("experience native gender consent prior proficiency education")


def _role_of_words(one: Values) -> Guess:
    n, many = len(one.counts), not one.has_few
    again = not many or (one.length < LONG / 2 and n <= len(one.answers) / 2)
    person = not _OF_PERSON.isdisjoint(lower_words(one.name))
    # with a noun, as letters and numbers alone may be answers of other questions
    sides = {side_of(word) for word in one.counts if len(word) > 1}
    return (
        ("choice", f"words for two sides: {', '.join(examples_of(one))}")
        if {1.0, 0.0} <= sides and is_sided(one.counts, only=True)
        else ("words", f"{OF_SCALE}: {', '.join(examples_of(one))}")
        if not many and not one.is_yes_no and scale_of(one.counts)
        else ("ignore", "free text")
        if one.length > LONG or (many and one.length > 25)
        else ("ignore", NO_WORDS)
        if n == len(one.answers) > 2 or n == 1 or not again
        else ("ignore", AGAIN)
        if many or not (one.is_rated_name or one.is_yes_no) or person
        else (
            "words",
            f"by its name and few words: {', '.join(sorted(one.counts)[:4])}",
        )
    )


# A number before its meaning: `4 - good`.
_LEADING = re.compile(
    r"[-+]?\d{1,2}(?:\s*[-–—:=.)(]\s*[^\W\d]| (?:out of|of|stars?|points?)\b|$)"
)

OF_SCALE = "words of a scale"
ALONE = "it tells apart rows that else would repeat each other"
AGAIN = "a few words that come again"
LIKELY = "a few words that come again, as those of systems may"
COMPUTED = "decimal numbers, as programs compute"
STANDARDIZED = "standardized scores, which are derived from ratings"

UNNAMED = ", but other columns are named as ratings"
BESIDE = "numbers as in "
MARKED = "yes and no beside ratings, counted as 1 and 0"
NO_WORDS = "words that are no ratings"
_YES_NO = {*YES_NO, "0", "1"}


def _role_of_numbers(one: Values) -> Guess:
    found = one.numbers[~np.isnan(one.numbers)]
    distinct = np.unique(found)
    whole = bool((found % 1 == 0).all())
    if reason := next(filter(None, _no_rating(one, found, distinct, whole)), ""):
        return "ignore", reason
    where = f"{distinct[0]:g} to {distinct[-1]:g}"
    if one.is_rated_name or (one.says(RATER) and _is_numbered_rating(one)):
        return "rating", f"by its name and numbers from {where}"
    return "maybe", f"few numbers, {where}"


def _no_rating(
    one: Values, found: Floats, distinct: Floats, whole: bool
) -> Iterator[str]:
    rated, n = one.is_rated_name, len(found)
    yield bool(
        whole
        and 0 == found.min() < 3 <= found.max()
        and one.says(word_set("vote votes"))
    ) * (
        "numbers from 0, as of people who voted so; if they are, a row for each vote, with "
        "its column, can be imported, and if they are ratings, choose them"
    )
    above = lower_words(one.name.rpartition(".")[0].partition(" ")[0])
    named = one.name_words if one.name_words_rated or one.says(RATER) else ()
    program = {*above} & _ABOVE | {*named} & _PROGRAM
    yield bool(program) * f"numbers of a program, as “{min(program, default='')}” says"
    counted = sorted({*one.name_words} & COUNTED, key=lambda word: (word != "id", word))
    if counted and not (one.name_words_rated and _OF_ANSWERS.match(one.name)):
        yield f"numbers named “{counted[0]}”, which are no ratings"
    rows = not rated and whole and len(distinct) == n > 3
    yield (rows and bool((np.diff(found) == 1).all())) * "it counts the rows"
    same = len(distinct) == 1 and n > 20 and distinct[0] > 10 and not rated
    yield bool(same) * "the same number in all rows"
    large = whole and np.abs(distinct).max() > 100 and not rated
    yield bool(large) * "numbers of this size are ids or counts"
    yield bool(not whole and distinct[0] < 0 < distinct[-1] < 6) * STANDARDIZED
    yield (not whole and len(distinct) > 20 and not rated) * COMPUTED
    yield (len(distinct) > 101 and not rated) * "too many different numbers for ratings"


# Numbers that forms store if there is no answer.
_NO_ANSWER = (-1, -7, -8, -9, -77, -88, -99, -999, 77, 88, 98, 99, 999, 9999)


def no_answer(found: Floats) -> float | None:
    """Return a code for no answer, such as -9 or 99, far from whole numbers without gaps."""
    whole = np.unique(found[~np.isnan(found)])
    for code, rest in ((whole[:1], whole[1:]), (whole[-1:], whole[:-1])):
        if len(rest) > 2 and code[0] in _NO_ANSWER and (np.diff(rest) == 1).all():
            far, again = np.abs(rest - code).min(), (found == code[0]).sum() > 1
            if again and far > (1 if code[0] == -1 else rest[-1] - rest[0]):
                return float(code[0])
    return None


def examples_of(one: Values) -> tuple[str, ...]:
    return tuple(word[:40] for word, _ in one.counts.most_common(3))


def lower_words(text: str) -> list[str]:
    return [word.lower() for word in WORDS.findall(text)]
