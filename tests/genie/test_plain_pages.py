"""No page of the admin shows Python's way of writing, or an amount in cents."""

import re

from django.contrib import admin
from django.contrib.auth import get_user_model
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


def test_pages_and_lists_are_in_words(without_decoys):
    boss = get_user_model().objects.create_superuser("boss")
    made = fill_all(admin.site)
    HITType.own.update(scale=next(iter(all_scales())))
    client = signed_in(boss)
    raw = {}
    for model, model_admin in admin.site._registry.items():
        for field in model._meta.fields:
            if "JSON" in type(field).__name__ and model._meta.label not in PARTICULAR:
                model._default_manager.update(**{field.name: TOLD})
        stem = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages = [reverse(f"{stem}_changelist")]
        if isinstance(model_admin, ReadOnlyAdmin):
            pages.append(reverse(f"{stem}_change", args=[made[model].pk]))
        for page in pages:
            answer = client.get(page, follow=True)
            assert answer.status_code == 200, page
            text = answer.text.partition('id="content"')[2]
            if found := sorted(set(PYTHON.findall(text))):
                raw[page] = found
    assert raw == {}
