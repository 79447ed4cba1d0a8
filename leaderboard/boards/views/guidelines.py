import re
from dataclasses import dataclass

from django.utils.safestring import SafeString

from crowd import hit_templates
from crowd.scales.find import all_scales
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class Example:
    shown: SafeString
    questions: list[str]
    answers: list[str]


def guidelines(task: Task) -> SafeString:
    template = hit_templates.known().get(task.asked.hit_template)
    if template is None:
        return SafeString("")
    form = task.asked.form(task.asked.criteria)
    return _below(template.instructions_of(form))


def _below(page: SafeString) -> SafeString:
    # HIT templates begin with h1, as they are separate on workers' pages
    moved = re.sub(
        r"(</?h)([1-4])\b", lambda tag: f"{tag[1]}{int(tag[2]) + 2}", str(page)
    )
    # only the levels of already safe headings have changed
    return SafeString(moved)


def example(task: Task) -> Example | None:
    template = hit_templates.known().get(task.asked.hit_template)
    if template is None:
        return None
    scale = all_scales().get(task.asked.scale)
    return Example(
        shown=template.render(template.example),
        questions=list(task.asked.criteria.values()),
        answers=[option.label for option in scale.options] if scale else [],
    )
