"""Pages of the admin: as committed, and without Python's way of writing or amounts in cents."""

import re
from html import unescape

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import connection
from django.urls import reverse

from crowd.models import HITType
from crowd.scales.base import all_scales
from genie.lib.admin import ReadOnlyAdmin
from tests.factories import signed_in
from tests.genie.filled import empty, fill_all

# fields hold 31,999 where they are numbers; tests/genie/filled.py
PYTHON = re.compile(r"\{&#x27;|\[&#x27;|&#x27;:|&lt;[A-Z]\w+ object|\bcents\b")
# What they hold is read by their pages.
PARTICULAR = {
    "leaderboard.Import",
    "leaderboard.Judge",
    "leaderboard.JudgeRun",
    "leaderboard.Task",
    "quality.DetectorFit",
}
TOLD = {"a": ["x's", 1], "b": None}


# ends of rows, and of cells in them
ROW = re.compile(r"</(?:tr|p|li|h\d|div|dd|dt|option|button|legend|ul)>")
TIME = re.compile(r"20\d\d-\d\d-\d\d( \d\d:\d\d)?|\d\d? [A-Z][a-z]+ 20\d\d")


def rows_of(content: str) -> str:
    """Return what a page says, in one line for each row, without times."""
    content = content.partition(">")[2].partition("</main>")[0].replace("</td>", " | ")
    content = re.sub(r"(?s)<select.*?</select>", "", content)
    content = re.sub(r'<img[^>]* alt="(\w+)"', r"\1 \g<0>", ROW.sub("\r", content))
    text = unescape(re.sub(r"(?s)<[^>]+>", " ", content))
    rows = (" ".join(row.split()) for row in TIME.sub("(time)", text).split("\r"))
    return "\n".join(filter(None, rows))


def json_fields(model):
    own = () if model._meta.label in PARTICULAR else model._meta.fields
    return [field for field in own if "JSON" in type(field).__name__]


def pages_of(model, row, client):
    """Yield the address and the content of a model's list and of the page of its row."""
    stem = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    for page in (
        reverse(f"{stem}_changelist"), reverse(f"{stem}_change", args=[row.pk])
    ):  # fmt: skip
        answer = client.get(page, follow=True)
        assert answer.status_code == 200, page
        yield page, answer.text.partition('id="content"')[2]


@pytest.mark.slow
@pytest.mark.django_db
def test_pages_and_lists_are_in_words_and_as_committed(without_decoys, net):
    with connection.cursor() as cursor:
        cursor.execute("delete from sqlite_sequence")  # rows are numbered from 1
    boss = get_user_model().objects.create_superuser("boss")
    made = fill_all(admin.site)
    HITType.own.update(scale=next(iter(all_scales())))
    client = signed_in(boss)
    raw, shown = {}, []
    registry = admin.site._registry  # which texts were read is listed last
    of_rows = sorted(registry, key=lambda one: ("Read" in str(one), str(one)))
    for model in of_rows:
        for field in json_fields(model):
            model._default_manager.update(**{field.name: TOLD})
        for page, text in pages_of(model, made[model], client):
            shown.append(f"\n{page}\n{rows_of(text)}\n")
            read_only = "/change/" not in page
            if read_only or isinstance(registry[model], ReadOnlyAdmin):
                raw |= (
                    {page: found} if (found := sorted({*PYTHON.findall(text)})) else {}
                )
    assert raw == {}
    net("staff-pages.txt", "".join(sorted(shown)))
    full = {line for one in shown for line in one.splitlines()}
    for model in of_rows:
        empty(made[model])
        for field in json_fields(model):
            model._default_manager.update(**{field.name: field.get_default() or {}})
    shown = []
    for model in of_rows:
        for page, text in pages_of(model, made[model], client):
            rows = [row for row in rows_of(text).splitlines() if row not in full]
            shown.append("\n".join(["", page, *rows, ""]))
    net("staff-pages-of-empty-rows.txt", "".join(sorted(shown)))
