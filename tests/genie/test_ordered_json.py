import json

import pytest
from django.core import serializers

from crowd.models import HITType
from leaderboard.models import Task
from tests.factories import make_task

# by length and alphabet, as PostgreSQL would sort them, this is the other way round
CRITERIA = {"informativeness": "Is it all there?", "tone": "Is it polite?", "a": "?"}


@pytest.fixture
def task():
    return make_task(config={"human": {"criteria": CRITERIA, "sample_size": 1}})


def test_keys_keep_their_order_at_every_depth(task):
    found = Task.objects.get(pk=task.pk)
    assert list(found.human.criteria) == list(CRITERIA)
    assert found.config == task.config
    (values,) = Task.own.values_list("config", flat=True)
    assert list(values["human"]["criteria"]) == list(CRITERIA)


def test_rows_made_in_bulk_and_changed_by_update_keep_it_too():
    fields = {"reward_cents": 1, "criteria": CRITERIA}
    HITType.objects.bulk_create([HITType(fingerprint="1", **fields)])
    assert list(HITType.own.get().criteria) == list(CRITERIA)
    turned = dict(reversed(CRITERIA.items()))
    HITType.own.update(criteria=turned)
    assert list(HITType.own.get().criteria) == list(turned)


def test_a_dump_holds_the_object_and_loads_again(task):
    (dumped,) = json.loads(serializers.serialize("json", [task]))
    assert dumped["fields"]["config"]["human"]["criteria"] == CRITERIA
    text = json.dumps([dumped])
    (again,) = serializers.deserialize("json", text)
    again.save()
    assert list(Task.own.get().human.criteria) == list(CRITERIA)


def test_a_form_takes_json_and_refuses_what_is_none():
    field = Task._meta.get_field("config").formfield()
    assert field.clean('{"b": 1, "a": 2}') == {"b": 1, "a": 2}
    assert field.prepare_value({"b": 1}) == '{"b": 1}'
    with pytest.raises(Exception, match="valid JSON"):
        field.clean("{")
