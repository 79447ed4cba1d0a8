"""HIT templates that come with a task: limits on their files.

Our own templates are reviewed before release. These are restricted to a small part of
Django's language and of HTML, so that no text changes the page's structure, no loop
grows without bound, and no link leaves the page.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from crowd.hit_templates.checks import faults
from crowd.hit_templates.template import FILES, SLUG, HITTemplate, template_of
from crowd.hit_templates.words import FILE
from genie.lib.errors import GenieError

MOST_CHARACTERS = 50_000
_TOKEN = re.compile(r"({%.*?%}|{{.*?}}|{#.*?#})")
# Placeholders for Django's language while the HTML around it is checked.
_BLOCK, _VALUE, _LANG = "\ue000", "\ue001", "\ue002"
_TAGS = (
    "article|aside|blockquote|br|code|dd|div|dl|dt|em|h2|h3|h4|hr|li|ol|p|pre|section|"
    "span|strong|table|tbody|td|th|thead|tr|ul"
)
_UNCLOSED = {"br", "hr"}
_ATTRIBUTE = rf'(?:class="[\w \-]*"|dir="(?:auto|ltr|rtl)"|lang="(?:[\w\-]*|{_LANG})")'
_TAG = re.compile(rf"<(?:/({_TAGS})\s*|({_TAGS})(?:\s+{_ATTRIBUTE})*\s*/?)>", re.ASCII)
_NAME = r"[a-z_][a-z0-9_]{0,40}"
_PART = r"(?:\d{1,2}|label|text|lang|slot|html|kind|strip|first|last|counter)"
_FILTER = r'(?:\|(?:slice:"\d{0,2}:\d{0,2}"|length))'
_VARIABLE = rf"{_NAME}(?:\.{_PART})*{_FILTER}*"
_VALUES = rf'(?:"[^"{{}}%<>]*"|\d{{1,6}}|{_VARIABLE}|True|False)'
_COMPARED = rf"(?:{_VALUES}|==|!=|<=?|>=?)"
_BLOCKS = re.compile(
    rf"(?:(?P<for>for)\s+{_NAME}\s+in\s+(?:fields|outputs){_FILTER}?"
    rf"|(?:if|elif)(?:\s+{_COMPARED})+"
    r"|else|endif|empty|(?P<end>endfor)|endwith"
    rf"|with(?:\s+{_NAME}={_VALUES})+"
    rf'|include\s+"[a-z]+\.html"(?:\s+with(?:\s+{_NAME}={_VALUES})+)?(?:\s+only)?)',
    re.ASCII,
)


def read(slug: str, files: Mapping[str, bytes]) -> HITTemplate:
    try:
        texts = {name: data.decode("utf-8") for name, data in files.items()}
    except UnicodeDecodeError:
        raise _unusable(slug, ["its files must be UTF-8"]) from None
    problems = [*_of_files(slug, texts)]
    problems = problems or [*_of_source(texts["template.html"])]
    if problems:
        raise _unusable(slug, problems)
    try:
        template = template_of(slug, texts)
        problems = [*faults(template)]
    # An example may hold anything instead of lists and texts.
    except (GenieError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _unusable(slug, [str(error).rstrip(".") or "it is broken"]) from error
    if problems:
        raise _unusable(slug, problems)
    return template


def _of_files(slug: str, texts: Mapping[str, str]) -> Iterator[str]:
    if not SLUG.fullmatch(slug):
        yield (
            "its name must be at most 50 lower-case letters and digits, with hyphens "
            "between them"
        )
    if missing := sorted({*FILES} - {*texts}):
        yield f"{', '.join(missing)} must be there"
    if others := sorted(one for one in {*texts} - {*FILES} if not FILE.fullmatch(one)):
        yield f"{others[0][:80]} is no file of a template"
    for name, text in texts.items():
        if len(text) > MOST_CHARACTERS:
            yield f"{name} has more than {MOST_CHARACTERS:,} characters"
        if any(sign in text for sign in ("\0", _BLOCK, _VALUE, _LANG)):
            yield f"{name} has characters that no text has"


def _of_source(source: str) -> Iterator[str]:
    depth, seen = 0, []
    for token in _TOKEN.split(source):
        kind, inner = token[:2], token[2:-2].strip()
        if kind == "{%":
            block = _BLOCKS.fullmatch(inner)
            if block is None:
                yield f"{{% {inner[:60]} %}} is not possible in template.html"
            else:
                depth += bool(block["for"]) - bool(block["end"])
            if depth > 1:
                yield "loops may not stand within each other"
        elif kind == "{{" and not re.fullmatch(_VARIABLE, inner, re.ASCII):
            yield f"{{{{ {inner[:60]} }}}} is not possible in template.html"
        # HTML made from a text is not escaped, so no attribute may contain it.
        value = _LANG if inner.endswith(".lang") else _VALUE
        seen.append({"{%": _BLOCK, "{#": _BLOCK, "{{": value}.get(kind, token))
    yield from _of_html("".join(seen))


def _of_html(page: str) -> Iterator[str]:
    rest = _TAG.sub("", page)
    if "<" in rest:
        signs = dict.fromkeys(map(ord, (_BLOCK, _VALUE, _LANG)), "…")
        found = rest[rest.index("<") :][:30].translate(signs)
        yield (
            f"template.html has {found!r}, which is not among the plain tags that are "
            "possible, with class, dir and lang"
        )
    balance: Counter[str] = Counter()
    for closed, opened in _TAG.findall(page):
        balance[closed or opened] += 1 if opened else -1
    for tag, n in sorted(balance.items()):
        if n and tag not in _UNCLOSED:
            yield f"template.html does not open <{tag}> as often as it closes it"


def _unusable(slug: str, problems: list[str]) -> GenieError:
    return GenieError(
        f"The HIT template {slug[:80]} of the bundle cannot be used: "
        f"{'; '.join(dict.fromkeys(problems))}.",
        code="unusable-template",
        details={"problems": problems},
    )
