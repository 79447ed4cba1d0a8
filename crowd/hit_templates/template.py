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

from crowd.hit_templates.form import Field, read_fields, read_form
from crowd.hit_templates.formats import in_formats, to_html
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

# No tag libraries, and no files except the shared parts: a template sees only its
# item's fields.
_ENGINE = Engine(dirs=[str(FOLDER_OF_PARTS)], autoescape=True, libraries={})
# Parts of an item that a page can show together or one after another.
PARTS = ("input", "standard", "output")
_TEMPLATE_ERRORS = (TemplateSyntaxError, TemplateDoesNotExist)
# Slugs of templates in the database; other names are not looked up there.
SLUG = re.compile(r"(?=.{1,50}\Z)[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
FILES = ("template.html", "template.toml", "example.json", "instructions.md")


@dataclass(frozen=True)
class HITTemplate:
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
    # the default form; see form.py
    form: Mapping[str, Any]
    # the criteria that a test question can be marked on, by polarity
    test_criteria: Mapping[str, Any]
    _template: Template = field(repr=False)
    _source: str = field(repr=False)
    # language -> its translation
    words: Mapping[str, Words] = field(default_factory=dict, repr=False)
    # input -> its label in the language shown
    labels: Mapping[str, str] = field(default_factory=dict)
    _said: dict[str, HITTemplate] = field(default_factory=dict, repr=False)

    def check(self, data: Mapping[str, Any]) -> None:
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
        """Return the instructions as HTML, rendered on demand, as few processes use them."""
        return to_html(self.instructions_markdown)

    def instructions_of(self, form: Mapping[str, Any]) -> SafeString:
        own = form.get("instructions", "")
        return to_html(own) if own else self.instructions

    def in_words(self, language: str) -> HITTemplate:
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
        return replace(self, labels={**self.labels, **labels}) if labels else self

    @property
    def shows_outputs(self) -> bool:
        return any(item_field.type == "outputs" for item_field in self.fields)

    def render(
        self, data: Mapping[str, Any], parts: Collection[str] = PARTS
    ) -> SafeString:
        """Render an item: only the fields that template.toml names, all escaped."""
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
    try:
        others = sorted(path.name for path in folder.iterdir())
        names = [*FILES, *(name for name in others if FILE.fullmatch(name))]
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    except (OSError, ValueError) as error:
        raise _broken(folder.name, error) from error
    return template_of(folder.name, texts)


def template_of(slug: str, texts: Mapping[str, str]) -> HITTemplate:
    try:
        return _try_out(slug, texts)
    except (KeyError, ValueError, *_TEMPLATE_ERRORS) as error:
        raise _broken(slug, error) from error


def _broken(slug: str, error: Exception) -> GenieError:
    return GenieError(
        f"The HIT template {slug} cannot be read: {error!r}.",
        code="broken-hit-template",
    )


def _try_out(slug: str, texts: Mapping[str, str]) -> HITTemplate:
    """Read the files and render the example once, so that later pages cannot fail."""
    template = _parse_files(slug, texts)
    read_form(template.form, template.questions)
    template.check(template.example)
    template.render(template.example)
    return template


def _parse_files(slug: str, texts: Mapping[str, str]) -> HITTemplate:
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
    # With its name, a path such as ../x is looked up among the parts like any other.
    origin = Origin(f"{slug}.html", template_name=f"{slug}.html")
    return Template(source, origin, origin.name, by)
