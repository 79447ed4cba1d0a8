"""Everything that staff do with a thing in one of its states: what it does, and who may.

A line a state: the refusal's code, the next state, the lines of the history, the entries of
the public log and the tables that it writes. Each case is undone. Rights are tried in the
first state in which the action does something.
"""

import json
import re
from functools import wraps

import pytest
from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection, transaction
from django.urls import reverse

from genie.accounts.models import TaskRole
from genie.history.models import LogEntry as PublicEntry
from genie.lib.errors import GenieError
from leaderboard.models import Comparison, JointEvaluation, JudgeRun, Submission
from leaderboard.site.roles import make_groups
from quality.models import Appeal
from tests.factories import make_user
from tests.nets.rows import ELSEWHERE, HERE, Rows, states_of
from tests.nets.views import call_view, leave_lists_empty

pytestmark = pytest.mark.django_db

_WRITES = re.compile(r'(INSERT|UPDATE|DELETE)\b[^"]*"(\w+)"')
_KEY = re.compile(r"\b[A-Z0-9]{20}\b")
_ASIDE = {"django_admin_log", "genie_logentry", "genie_privateread"}
# What is entered in a field of this name, and else by its kind.
_ENTERED = {
    "accounts": "submitter",
    "new_group": "careful",
    "name": None,
    "start_now": "on",
}
_DECIDED = {
    Submission: "submission", Comparison: "comparison", JointEvaluation: "joint",
    JudgeRun: "judge-run",
}  # fmt: skip


def _ways():
    """Yield model, name and function of each thing that staff do with a row."""
    for model, page in admin.site._registry.items():
        for _act, name, _words in page._get_base_actions():
            if name != "delete_selected":
                yield model, name, _in_the_list(name)
    for model, name in _DECIDED.items():
        for decision in ("approve", "decline", "stop", "resume")[
            : 3 + (model is JudgeRun)
        ]:
            yield (
                model,
                f"{decision}, by API",
                _by_api(f"api:{name}-decision", decision),
            )
    for button in ("uphold", "grant"):
        yield Appeal, button, _answering(button)


def _in_the_list(action):
    known = {"action": action}  # what was entered for the row before

    def act(user, row):
        where = reverse(f"admin:{row._meta.label_lower.replace('.', '_')}_changelist")
        data = {**known, "_selected_action": row.pk}
        answer = call_view(user, where, data)
        for _page in range(2):
            page = getattr(answer, "context_data", None) or {}
            if "question" not in page:
                break
            data |= {
                "confirmed": "yes",
                **_filled(page["form"]),
                **dict(page["hidden"]),
            }
            answer = call_view(user, where, data)
            known.update(data)
        return answer

    return act


def _by_api(name, decision):
    def act(user, row):
        where = reverse(name, args=[row.pk])
        data = {"decision": decision, "reason": "Because."}
        if decision == "approve" and isinstance(row, JudgeRun):
            data["cents"] = 5
        elif (
            decision == "approve"
            and (cost := call_view(user, where)).status_code == 200
        ):
            data["cost_cents"] = cost.data["cost_cents"] or 0
        return call_view(user, where, data)

    return act


def _answering(button):
    def act(user, row):
        data = {"sentence": "Because.", button: "on"}
        return call_view(
            user, reverse("admin:quality_appeal_answer", args=[row.pk]), data
        )

    return act


def _filled(form):
    """Return what a person would enter: what is there already, or something plausible."""
    data = {}
    for name, field in form.fields.items():
        value = _ENTERED.get(name) or form.get_initial_for_field(field, name)
        if value in (None, "", []):
            value = _plausible(field)
        if value is not None:
            data[form.add_prefix(name)] = value
    return data


def _plausible(field):
    match field:
        case forms.ModelChoiceField():
            return [row.pk for row in field.queryset[:1]] or None
        case forms.ChoiceField():
            return next((value for value, _ in field.choices if value), None)
        case forms.BooleanField():
            return "on" if field.required else None
        case forms.IntegerField():
            return 5
        case forms.DateTimeField():
            return "2030-01-01 10:00"
        case forms.CharField():
            return "Because."
    return None


def _people():
    people = {name: make_user(name) for name in ("submitter", "rival")}
    people["staff"] = make_user("staff", is_staff=True)
    # A test that committed before has deleted them.
    make_groups(apps.get_app_config("leaderboard"), "default")
    for group in Group.objects.order_by("pk"):
        people[group.name] = make_user(group.name, is_staff=True)
        people[group.name].groups.add(group)
    for where, pools in (("here", HERE), ("elsewhere", ELSEWHERE)):
        name = f"Organiser {where}"
        people[name] = make_user(name, is_staff=True)
        role = Group.objects.get(name="Organiser")
        for pool in pools:
            TaskRole.objects.create(user=people[name], role=role, pool=pool)
    return {
        **people,
        "superuser": make_user("superuser", is_staff=True, is_superuser=True),
    }


def _undone(do):
    @wraps(do)
    def undone(*args):
        with transaction.atomic():
            came = do(*args)
            transaction.set_rollback(True)
        return came

    return undone


class _Trial:
    """Let people act on rows, and tell what came of it."""

    def __init__(self, monkeypatch):
        people = _people()
        self.rows, self.codes = Rows(people), []
        self.people = {"visitor": AnonymousUser(), **people}
        self.newest = {model: _newest(model) for model in (LogEntry, PublicEntry)}
        whole = GenieError.__init__

        def noting(error, message, **more):
            whole(error, message, **more)
            self.codes.append(error.code)

        monkeypatch.setattr(GenieError, "__init__", noting)
        leave_lists_empty(monkeypatch)

    def lines(self, model, way, act):
        """Yield a line for each state, and two of who may and who may not."""
        states = states_of(model, way)
        by_state = {s: self.done(["superuser"], model, s, act)[0] for s in states}
        for line, its in _grouped(by_state):
            yield f"  {', '.join(its) or 'any state'}: {line}"
        state = next((s for s, line in by_state.items() if "writes" in line), "")
        others = [who for who in self.people if who not in ("superuser", "rival")]
        came = self.done(others, model, state, act)
        for line, people in _grouped(dict(zip(others, came, strict=True))):
            came = "may" if line == by_state.get(state) and "writes" in line else line
            yield f"  {came}: {', '.join(people)}"

    @_undone
    def done(self, people, model, state, act):
        row = self.rows.row(model, state)
        return [self._line(who, row, act) for who in people]

    @_undone
    def _line(self, who, row, act):
        wrote, before = set(), _state(row)
        self.codes.clear()

        def note(execute, sql, params, many, context):
            done = execute(sql, params, many, context)
            found = _WRITES.match(sql)
            if found and (found[1] == "INSERT" or context["cursor"].rowcount):
                wrote.add(found[2])
            return done

        with connection.execute_wrapper(note):
            answer = act(self.people[who], row)
        words = [f"refused {code}" for code in dict.fromkeys(self.codes)]
        page = getattr(answer, "context_data", None) or {}
        if answer.status_code == 200 and "form" in page:
            words.append(f"asked again {sorted(page['form'].errors)}")
        elif "login" in answer.headers.get("Location", ""):
            words.append("asked to sign in")
        elif answer.status_code not in (200, 302):
            words.append(str(answer.status_code))
        if not wrote:
            return "; ".join(words) or "nothing"
        fresh = type(row)._default_manager.filter(pk=row.pk).first()
        if (now := _state(fresh) if fresh else "deleted") != before:
            words.append(f"becomes {now}")
        told = [one.change_message for one in self._since(LogEntry)]
        words += [f"“{_KEY.sub('KEY', sentence)}”" for sentence in told]
        words += [_shown(entry) for entry in self._since(PublicEntry)]
        if tables := sorted(wrote - _ASIDE):
            words.append(f"writes {', '.join(tables)}")
        return "; ".join(words) or "nothing"

    def _since(self, model):
        return model.objects.filter(pk__gt=self.newest[model]).order_by("pk")


def _grouped(lines):
    """Yield each line with the keys that have it, in the order of the first."""
    for line in dict.fromkeys(lines.values()):
        yield line, [key for key, own in lines.items() if own == line]


def _state(row):
    return getattr(row, "state", "") or getattr(
        getattr(row, "evaluation", row), "state", ""
    )


def _newest(model):
    return model.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _shown(entry):
    data = json.loads(entry.data)
    said = [str(data[key]) for key in ("says", "is", "cents") if key in data]
    return f"public log {entry.kind} “{' '.join(said)}”"


def test_staff_do_what_the_state_and_their_role_allow(net, monkeypatch):
    trial, lines = _Trial(monkeypatch), []
    for model, name, act in sorted(
        _ways(), key=lambda way: (way[0]._meta.label, way[1])
    ):
        trial.rows.row(model, "")
        lines += [f"{model._meta.label}: {name}", *trial.lines(model, name, act)]
    net("staff-actions.txt", "".join(f"{line}\n" for line in lines))
