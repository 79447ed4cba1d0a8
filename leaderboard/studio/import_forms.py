"""The forms for imports of ratings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from genie.lib.errors import GenieError
from leaderboard.imports.readers.layout import Choice, all_layouts
from leaderboard.imports.readers.mapping import (
    CONSTANT,
    NAMED,
    ROLES,
    SIDES,
    SLUG,
    read_choices,
    split_names,
)
from leaderboard.imports.readers.read import shipped_mappings
from leaderboard.studio.forms import RATERS, NewForm
from leaderboard.tasks.selectors import ASKED

_SAID = ("source", "licence", "raters", "citation")


class BringForm(NewForm): ...


def _layouts() -> list[tuple[str, str]]:
    formats = {slug: layout.title for slug, layout in all_layouts().items()}
    named = {SLUG: "columns by their roles", **{one: one for one in shipped_mappings()}}
    return [("", "As it seems"), *(named | formats).items()]


_MEANINGS = [("", "As guessed"), *((name, name) for name in NAMED)]
_SIDES = [
    ("", "Not chosen"),
    ("first", "the first is better"),
    ("second", "the second is better"),
    ("tie", "tie"),
    ("none", "no answer"),
]
_ANSWERS = ("within", "names", "numbers", "rating", "lower_is_better")
_NUMBER = r"^(?:[+-]?\d+(?:[.,]\d+)?|none)\Z"


class ChoicesForm(forms.Form):
    """The roles of columns, and the answers to questions about files."""

    layout = forms.ChoiceField(choices=_layouts, required=False, label="Read as")
    within = forms.CharField(
        max_length=500,
        required=False,
        label="Path of the rows in JSON, such as data.items",
    )
    one_system = forms.CharField(
        max_length=200, required=False, label="System of all rows"
    )
    names = forms.ChoiceField(
        choices=_MEANINGS, required=False, label="Names of rating columns refer to"
    )
    numbers = forms.ChoiceField(
        choices=_MEANINGS, required=False, label="Numbers in their names mean"
    )
    rating = forms.CharField(
        max_length=500,
        required=False,
        label="Columns with ratings",
        help_text="Instead of menus, you can list names or patterns such as "
        "Q{item}_{criterion}, separated by commas. Parts are system, item, "
        "criterion and rater. {} is ignored.",
    )
    lower_is_better = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Lower is better"
    )

    def __init__(
        self, data: Any, seen: Mapping[str, Any], before: Mapping[str, Any]
    ) -> None:
        self.before, self.seen = before, seen
        self.chosen: Mapping[str, Any] = before.get("choices", {})
        constant = str(self.chosen.get("system") or "")
        system = constant[1:] if constant.startswith(CONSTANT) else ""
        own = {"layout": before.get("layout"), "rating": "", "one_system": system}
        asked = {one["name"]: one["found"] for one in seen.get("choices", [])}
        lower = split_names(asked.get("lower_is_better", ""), set())
        guess = {"lower_is_better": lower} if lower else {}
        super().__init__(data, initial={**guess, **self.chosen, **own})
        self.columns = seen.get("columns", [])
        # field -> name of its choice, word, or criterion
        self.of_choices = dict(zip(_ANSWERS, _ANSWERS, strict=True))
        self.of_words: dict[str, str] = {}
        self.of_scales: dict[str, Mapping[str, Any]] = {}
        self.rare, self.needed = {*self.fields} - guess.keys(), set[str]()
        criteria = seen.get("criteria", [])
        named = [(one, one or "the ratings") for one in criteria]
        self.fields["lower_is_better"].choices = named  # type: ignore[attr-defined]
        unused = {"lower_is_better"} if not named else set[str]()
        for name in unused if self.columns else (*_ANSWERS[1:], "one_system"):
            del self.fields[name]
        for number, one in enumerate(self.columns):
            self.fields[f"role_{number}"] = forms.ChoiceField(
                choices=list(ROLES.items()),
                required=False,
                initial=one["role"],
                widget=forms.Select(attrs={"aria-label": f"Role of {one['name']}"}),
            )
        for number, question in enumerate(self._questions(criteria)):
            self._add_question(f"choice_{number}", question)
        if self.columns:
            self._add_words()
            self.rare -= (
                {"one_system"}
                if "system" in self.of_choices.values() or system
                else set()
            )
        for one in seen.get("scales", []):
            if one["scale"]:
                self._add_scale(one)

    def _questions(self, criteria: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        asked = {one["name"]: one for one in self.seen.get("choices", [])}
        if self.columns and len(criteria) > 1:
            ranks = Choice(
                "ranks", "Which criterion ranks the systems?", (*criteria,), criteria[0]
            )
            asked.setdefault("ranks", vars(ranks))
        # the menus and the words have separate fields
        left = {"rating", "words", "lower_is_better"} if self.columns else set()
        return (one for name, one in asked.items() if name not in left)

    def _add_question(self, field: str, one: Mapping[str, Any]) -> None:
        self.of_choices[field] = one["name"]
        said = self.chosen.get(one["name"]) or one["found"] * one["needed"]
        # options of the command are left out
        label = _OPEN.get(one["name"], one["question"])
        found = f"Found: {one['found']}." if one["found"] else ""
        hint = f"{found}{' Required.' if one['needed'] else ''}".strip()
        about = {"required": False, "initial": said, "label": label, "help_text": hint}
        self.needed |= {field} if one["needed"] else set()
        self.rare |= set() if one["needed"] or one["found"] else {field}
        usual = [("", "As found" if one["found"] else "Not chosen")]
        options = [(option, option) for option in one["options"] if option]
        self.fields[field] = (
            forms.ChoiceField(choices=usual + options, **about)
            if options
            else forms.CharField(max_length=500, **about)
        )

    def _add_words(self) -> None:
        guessed = [
            one["found"] for one in self.seen["choices"] if one["name"] == "words"
        ]
        known = _explain(",".join(filter(None, guessed)))["*"]
        known |= _explain(self.chosen.get("words"))["*"]
        usual = {"n": 0, "criteria": [], "paired": False}
        listed = {word: {"word": word, **usual} for word in known} | {
            " ".join(one["word"].lower().split()): one
            for one in self.seen.get("words", [])
        }
        for number, (word, one) in enumerate(listed.items()):
            worth, of = (
                known.get(word, ""),
                ", ".join(filter(None, one["criteria"][:3])),
            )
            about: dict[str, Any] = {
                "required": False,
                "initial": worth if isinstance(worth, str) else f"{worth:g}",
                "label": f"“{one['word']}”",
                "help_text": f"{one['n']:,} answers{of and f' of {of}'}"
                if one["n"]
                else "as you answered",
            }
            self.of_words[f"word_{number}"] = word
            self.fields[f"word_{number}"] = (
                forms.ChoiceField(choices=_SIDES, **about)
                if one["paired"] or worth in SIDES
                else forms.RegexField(_NUMBER, max_length=20, **about)
            )

    def _add_scale(self, one: Mapping[str, Any]) -> None:
        field, name, used = (
            f"scale_{len(self.of_scales)}",
            one["criterion"],
            one["scale"],
        )
        self.of_scales[field] = one
        self.fields[field] = forms.CharField(
            max_length=50,
            required=False,
            initial=used["shown"],
            label=f"Scale{f' of “{name}”' if name else ''}",
            help_text="The lowest and the highest possible answer, such as 1 to 5. "
            f"Values go from {one['least']:g} to {one['most']:g}. "
            + (
                f"Used: {used['shown']} ({used['source']})."
                if used["confirmed"]
                else "Required before you can import. Confirm or correct the guess."
            ),
        )

    @property
    def table(self) -> list[tuple[Mapping[str, Any], forms.BoundField]]:
        return [(one, self[f"role_{n}"]) for n, one in enumerate(self.columns)]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return list(
            zip(*(one["cells"] or [""] * 10 for one in self.columns), strict=False)
        )

    @property
    def words(self) -> list[forms.BoundField]:
        return [self[name] for name in self.of_words]

    @property
    def main(self) -> list[forms.BoundField]:
        left = {*self.rare, *self.of_words}
        return [
            self[name]
            for name in self.fields
            if name not in left and name[:5] != "role_"
        ]

    @property
    def rest(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name in self.rare]

    @property
    def said(self) -> dict[str, Any]:
        """Return the answers as a draft stores them; the reader handles empty ones."""
        cleaned, layout = self.cleaned_data, self.cleaned_data["layout"]
        if layout != self.before.get("layout", ""):
            return {"layout": layout, "choices": {}, "scales": {}}
        roles = self._roles()
        choices = dict(self.chosen) | roles
        for field, name in self.of_choices.items():
            answered = field in self.changed_data or field in self.needed
            if answered and not roles.get(name):
                choices[name] = cleaned.get(field)
        if self.of_words:
            tables = _explain(self.chosen.get("words")).items()
            choices["words"] = {
                name: table for name, table in tables if name != "*"
            } | {
                word: value
                if value in {*SIDES, "none"}
                else float(value.replace(",", "."))
                for field, word in self.of_words.items()
                if (value := cleaned.get(field))
            }
        if "one_system" in self.changed_data:
            name = cleaned["one_system"]
            choices["system"] = name and f"{CONSTANT}{name}"
        # an empty list is an answer: no column has this role
        choices = {
            name: value
            for name, value in choices.items()
            if value or (value == [] and name != "ignore")
        }
        # a scale that was only shown may still change with other choices
        scales = dict(self.before.get("scales", {})) | {
            one["criterion"]: text
            for field, one in self.of_scales.items()
            if (text := cleaned.get(field, ""))
            and text != one["scale"]["shown"] * one["scale"]["confirmed"]
        }
        return {"layout": layout, "choices": choices, "scales": scales}

    def _roles(self) -> dict[str, list[str]]:
        menus = [
            (
                one["name"],
                one["role"],
                self.cleaned_data.get(f"role_{n}") or one["role"],
            )
            for n, one in enumerate(self.columns)
        ]
        changed = {name for name, before, now in menus if before != now}
        # columns that nothing was said about are guessed to be ignored
        ignored = changed | {*self.chosen.get("ignore", ())}
        return {
            role: [
                name
                for name, _, now in menus
                if now == role and (now != "ignore" or name in ignored)
            ]
            for role in {r for name, *both in menus if name in changed for r in both}
        }


_OPEN = {"system": "Which column names the systems?"}


def _explain(words: Any) -> dict[str, dict[str, Any]]:
    try:
        return {k: dict(v) for k, v in read_choices({"words": words}).words.items()}
    except GenieError:
        return {"*": {}}


class AboutForm(forms.Form):
    """The origin of ratings, and details of how raters were asked."""

    title = forms.CharField(max_length=100, required=False, label="Title of the task")
    source = forms.CharField(
        max_length=500,
        label="Source",
        help_text="Address of the files, or a sentence about them.",
    )
    licence = forms.CharField(max_length=200, required=False, label="License")
    raters = forms.ChoiceField(
        choices=[("", "Not chosen: raters like these"), *RATERS],
        required=False,
        label="Results are about",
        help_text="You cannot change this after the import.",
    )
    citation = forms.CharField(
        max_length=5000,
        required=False,
        label="How to cite",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self, data: Any, seen: Mapping[str, Any], about: Mapping[str, Any], title: str
    ) -> None:
        super().__init__(data, initial={name: about.get(name, "") for name in _SAID})
        self.fields["title"].initial = title
        known, questions = about.get("known", {}), about.get("questions", {})
        for key, words in ASKED.items():
            self.fields[f"known_{key}"] = forms.CharField(
                max_length=2000,
                required=False,
                initial=known.get(key, ""),
                label=words[:1].upper() + words[1:],
            )
        self.criteria = [one["criterion"] for one in seen.get("scales", [])]
        for number, name in enumerate(self.criteria):
            self.fields[f"question_{number}"] = forms.CharField(
                max_length=500,
                required=False,
                initial=questions.get(name, ""),
                label=f"What people were asked{f' about “{name}”' if name else ''}",
            )

    def _fields_named(self, prefix: str) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(prefix)]

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in ("title", *_SAID)] + self._fields_named(
            "question_"
        )

    @property
    def known(self) -> list[forms.BoundField]:
        return self._fields_named("known_")

    @property
    def said(self) -> dict[str, Any]:
        filled = {key: text for key, text in self.cleaned_data.items() if text}
        return {
            **{name: filled[name] for name in _SAID if name in filled},
            "known": {
                key: filled[f"known_{key}"] for key in ASKED if f"known_{key}" in filled
            },
            "questions": {
                name: filled[f"question_{number}"]
                for number, name in enumerate(self.criteria)
                if f"question_{number}" in filled
            },
        }
