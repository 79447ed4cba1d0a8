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
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
from tests.factories import signed_in
from tests.genie.filled import fill_all

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
    for model in sorted(registry, key=lambda one: ("Read" in str(one), str(one))):
        for field in model._meta.fields:
            if "JSON" in type(field).__name__ and model._meta.label not in PARTICULAR:
                model._default_manager.update(**{field.name: TOLD})
        stem = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages = [reverse(f"{stem}_changelist")]
        pages.append(reverse(f"{stem}_change", args=[made[model].pk]))
        for page in pages:
            answer = client.get(page, follow=True)
            assert answer.status_code == 200, page
            text = answer.text.partition('id="content"')[2]
            shown.append(f"\n{page}\n{rows_of(text)}\n")
            read_only = page == pages[0] or isinstance(registry[model], ReadOnlyAdmin)
            if read_only and (found := sorted(set(PYTHON.findall(text)))):
                raw[page] = found
    assert raw == {}
    net("staff-pages.txt", "".join(sorted(shown)))
