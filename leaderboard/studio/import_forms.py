"""The forms for imports of ratings."""

from collections.abc import Mapping
from typing import Any

from django import forms

from leaderboard.studio.forms import NewForm
from leaderboard.tasks.selectors import ASKED

_SAID = ("source", "licence", "citation")


class BringForm(NewForm): ...


class LayoutForm(forms.Form):
    """The layout of files, and its reader's questions."""

    def __init__(
        self, data: Any, seen: Mapping[str, Any], said: Mapping[str, Any]
    ) -> None:
        super().__init__(data)
        self.fields["layout"] = forms.ChoiceField(
            choices=[("", "As it seems"), *_layouts(seen, said.get("layout", ""))],
            required=False,
            initial=said.get("layout", ""),
            label="Layout",
        )
        chosen: Mapping[str, str] = said.get("choices", {})
        self.names = {}
        self.first, self.rest_said = ["layout"], False
        for number, one in enumerate(seen.get("choices", [])):
            self.names[f"choice_{number}"] = one["name"]
            self.fields[f"choice_{number}"] = _choice(one, chosen.get(one["name"], ""))
            if one["found"] or one["needed"]:
                self.first.append(f"choice_{number}")
            else:
                self.rest_said |= bool(chosen.get(one["name"]))
        self.scales: dict[str, Mapping[str, Any]] = {}
        self.scales_said: Mapping[str, str] = said.get("scales", {})
        for one in seen.get("scales", []):
            if one["scale"]:
                self._add_scale(one)

    def _add_scale(self, one: Mapping[str, Any]) -> None:
        field, name, used = f"scale_{len(self.scales)}", one["criterion"], one["scale"]
        self.scales[field] = one
        self.first.append(field)
        self.fields[field] = forms.CharField(
            max_length=50,
            required=False,
            initial=used["shown"] if used["confirmed"] else "",
            label=f"Scale{f' of “{name}”' if name else ''}",
            help_text="The lowest and the highest possible answer, such as 1 to 5. "
            f"Values go from {one['least']:g} to {one['most']:g}. "
            + (
                f"Used: {used['shown']} ({used['source']})."
                if used["confirmed"]
                else "Needed before you can import. So few different values may not "
                "include both ends."
            ),
        )

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in self.first]

    @property
    def rest(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in self.first]

    @property
    def said(self) -> dict[str, Any]:
        """Return the answers as a draft stores them; the reader handles empty ones."""
        choices = {
            name: self.cleaned_data[field]
            for field, name in self.names.items()
            if self.cleaned_data.get(field)
        }
        # a scale that was only shown may still change with other choices
        scales = dict(self.scales_said) | {
            one["criterion"]: text
            for field, one in self.scales.items()
            if (text := self.cleaned_data.get(field, ""))
            and text != one["scale"]["shown"] * one["scale"]["confirmed"]
        }
        layout = self.cleaned_data["layout"]
        return {"layout": layout, "choices": choices, "scales": scales}


def _layouts(seen: Mapping[str, Any], chosen: str) -> list[tuple[str, str]]:
    from leaderboard.imports.readers.layout import all_layouts

    likely = {slug: title for slug, title, _sure, _because in seen.get("layouts", [])}
    others = {
        slug: layout.title
        for slug, layout in all_layouts().items()
        if slug not in likely
    }
    named = [(slug, f"{title} (likely)") for slug, title in likely.items()]
    named += sorted(others.items(), key=lambda pair: pair[1].lower())
    return named if not chosen or chosen in dict(named) else [(chosen, chosen), *named]


def _choice(one: Mapping[str, Any], said: str) -> forms.Field:
    found = f"Found: {one['found']}." if one["found"] else ""
    about = {
        "required": False,
        "initial": said,
        "label": one["question"],
        "help_text": f"{found}{' Needed.' if one['needed'] else ''}".strip(),
    }
    if not one["options"]:
        return forms.CharField(max_length=500, **about)
    options = [("", "As found" if one["found"] else "Not said")]
    options += [(option, option) for option in one["options"] if option]
    if said and said not in one["options"]:
        options.append((said, said))
    return forms.ChoiceField(choices=options, **about)


class AboutForm(forms.Form):
    """The origin of ratings, and details of how people were asked."""

    title = forms.CharField(max_length=100, required=False, label="Title of the task")
    source = forms.CharField(
        max_length=500,
        label="Source",
        help_text="Where the files are: an address, or a sentence.",
    )
    licence = forms.CharField(max_length=200, required=False, label="Licence")
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

    def _named(self, prefix: str) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(prefix)]

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in ("title", *_SAID)] + self._named("question_")

    @property
    def known(self) -> list[forms.BoundField]:
        return self._named("known_")

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
