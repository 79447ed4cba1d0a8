"""One HIT template: the folder's files as an object that can render an item."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from django.template import (
    Context,
    Engine,
    Origin,
    Template,
    TemplateDoesNotExist,
    TemplateSyntaxError,
)
from django.utils.safestring import SafeString

from crowd.hit_templates.fields import Field, read_fields
from crowd.hit_templates.form import read_form
from crowd.hit_templates.formats import in_formats
from crowd.hit_templates.markdown import to_html
from crowd.hit_templates.words import (
    FILE,
    FOLDER_OF_PARTS,
    Words,
    engine,
    languages_in,
    put_into,
    read_words,
)
from genie.lib.errors import GenieError

# No tag libraries, and no files but the shared parts: a template sees its item's
# fields and nothing else.
_ENGINE = Engine(dirs=[str(FOLDER_OF_PARTS)], autoescape=True, libraries={})
# What a page can show of an item: together, or one after the other.
PARTS = ("input", "standard", "output")
_TEMPLATE_ERRORS = (TemplateSyntaxError, TemplateDoesNotExist)
# What those in a database are called; nothing else is looked up there.
SLUG = re.compile(r"(?=.{1,50}\Z)[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
FILES = ("template.html", "template.toml", "example.json", "instructions.md")


@dataclass(frozen=True)
class HITTemplate:
    """How a kind of HIT looks, what it asks, and how it is explained."""

    slug: str
    title: str
    description: str
    keywords: str
    seconds: int
    scale: str
    questions: Mapping[str, str]
    fields: tuple[Field, ...]
    example: Mapping[str, Any]
    instructions_markdown: str
    # workers mark spans of the prediction, too
    marks_errors: bool
    # how its questions are put where nobody says otherwise; see form.py
    form: Mapping[str, Any]
    # which of its questions a test question can be marked on, by polarity
    test_criteria: Mapping[str, Any]
    _template: Template = field(repr=False)
    _source: str = field(repr=False)
    # language -> what it says in it, beside the one that it is written in
    words: Mapping[str, Words] = field(default_factory=dict, repr=False)
    # labels of inputs in the language that is shown, by what they are in the data
    labels: Mapping[str, str] = field(default_factory=dict)
    _said: dict[str, HITTemplate] = field(default_factory=dict, repr=False)

    def check(self, data: Mapping[str, Any]) -> None:
        """Refuse an item that lacks what the template shows, or has it in no usable form."""
        for item_field in self.fields:
            problem = item_field.problem(data.get(item_field.name))
            if problem:
                raise GenieError(
                    f"An item for the HIT template {self.slug} is not usable: "
                    f"{item_field.name} {problem}.",
                    code="unusable-item",
                    details={"template": self.slug, "field": item_field.name},
                )

    @cached_property
    def instructions(self) -> SafeString:
        """Give the instructions as HTML: made when asked for, as few processes show any."""
        return to_html(self.instructions_markdown)

    def instructions_of(self, form: Mapping[str, Any]) -> SafeString:
        """Give the instructions of work that may bring its own (see form.py)."""
        own = form.get("instructions", "")
        return to_html(own) if own else self.instructions

    def in_words(self, language: str) -> HITTemplate:
        """Give the template as it is read in one of its languages."""
        if language not in self._said:
            words = self.words[language]
            self._said[language] = replace(
                self,
                title=words.title,
                description=words.description,
                questions=words.questions,
                instructions_markdown=words.instructions_markdown,
                labels=words.labels,
                _template=_template(
                    self.slug, put_into(self._source, words.shown), engine(words.shown)
                ),
            )
        return self._said[language]

    def with_labels(self, labels: Mapping[str, str]) -> HITTemplate:
        """Let inputs have the labels that their task gives them."""
        return replace(self, labels={**self.labels, **labels}) if labels else self

    @property
    def shows_outputs(self) -> bool:
        """Tell whether an item holds several outputs, each in its slot."""
        return any(item_field.type == "outputs" for item_field in self.fields)

    def render(
        self, data: Mapping[str, Any], parts: Collection[str] = PARTS
    ) -> SafeString:
        """Show an item: only the fields that template.toml names, all of them escaped."""
        known = {
            item_field.name: data.get(item_field.name) for item_field in self.fields
        }
        if self.labels:
            known["fields"] = [
                {**part, "label": self.labels.get(part["label"], part["label"])}
                for part in known.get("fields") or []
            ]
        shown = {f"{part}_shown": part in parts for part in PARTS}
        return self._template.render(Context({**in_formats(known, data), **shown}))


def read_template(folder: Path) -> HITTemplate:
    """Read a template's folder; whatever is wrong with it is said with its name."""
    try:
        others = sorted(path.name for path in folder.iterdir())
        names = [*FILES, *(name for name in others if FILE.fullmatch(name))]
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    except (OSError, ValueError) as error:
        raise _broken(folder.name, error) from error
    return template_of(folder.name, texts)


def template_of(slug: str, texts: Mapping[str, str]) -> HITTemplate:
    """Make a template of its files' texts by their names."""
    try:
        return _tried(slug, texts)
    except (KeyError, ValueError, *_TEMPLATE_ERRORS) as error:
        raise _broken(slug, error) from error


def _broken(slug: str, error: Exception) -> GenieError:
    return GenieError(
        f"The HIT template {slug} cannot be read: {error!r}.",
        code="broken-hit-template",
    )


def _tried(slug: str, texts: Mapping[str, str]) -> HITTemplate:
    """Read the files and show the example once, so that later pages cannot fail."""
    template = _parsed(slug, texts)
    read_form(template.form, template.questions)
    template.check(template.example)
    template.render(template.example)
    return template


def _parsed(slug: str, texts: Mapping[str, str]) -> HITTemplate:
    config = tomllib.loads(texts["template.toml"])
    questions = dict(config["questions"])
    example = json.loads(texts["example.json"])
    words = {
        language: read_words(
            slug, language, texts, questions=questions, example=example
        )
        for language in languages_in(texts)
    }
    return HITTemplate(
        slug=slug,
        title=str(config["title"]),
        description=str(config["description"]),
        keywords=str(config["keywords"]),
        seconds=int(config["seconds"]),
        scale=str(config["scale"]),
        questions=questions,
        fields=read_fields(config["fields"]),
        example=example,
        instructions_markdown=texts["instructions.md"],
        marks_errors=bool(config.get("marks_errors", False)),
        form=dict(config.get("form", {})),
        test_criteria=dict(config.get("test_criteria", {})),
        _template=_template(slug, texts["template.html"], _ENGINE),
        _source=texts["template.html"],
        words=words,
    )


def _template(slug: str, source: str, by: Engine) -> Template:
    # With its name, a path such as ../x is looked up among the parts as any other.
    origin = Origin(f"{slug}.html", template_name=f"{slug}.html")
    return Template(source, origin, origin.name, by)
