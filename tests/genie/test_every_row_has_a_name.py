"""Each kind of row says what it is, in lists and in the history."""

from django.apps import apps
from django.db import IntegrityError, transaction

from tests.decoys import APPS, fill


def test_every_row_has_a_name():
    every = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    unmade = []
    for model in every:
        try:
            with transaction.atomic():
                row = model._default_manager.first() or fill(model, {})
        except IntegrityError:
            unmade.append(model)  # its fields must agree with each other
            continue
        row.refresh_from_db()
        assert str(row), model
    assert len(unmade) < 10 < len(every) - 100, unmade
