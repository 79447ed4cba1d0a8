"""A row of each kind of thing that staff act on, in each of its states."""

from itertools import count
from types import SimpleNamespace

from django.contrib.auth import get_user_model
from django.db import models
from django.utils import timezone

from crowd.models import (
    HIT,
    Assignment,
    Campaign,
    Commitment,
    HITType,
    Item,
    LedgerEntry,
    QualificationTest,
    Worker,
)
from leaderboard.evaluation import decide
from leaderboard.models import (
    Comparison,
    HumanEvaluation,
    Instance,
    JointEvaluation,
    Judge,
    JudgeBudget,
    JudgeRun,
    Submission,
    Task,
    Team,
)
from quality.models import (
    Appeal,
    Ban,
    HeldExclusion,
    RetiredQuestion,
    TestQuestion,
    Verdict,
)
from tests.decoys import value_for
from tests.factories import (
    answer,
    make_evaluation,
    make_item,
    make_predictions,
    make_score,
    make_submission,
    make_task,
    make_team,
    make_worker,
    pay,
)
from tests.test_permissions import judge_run, requested

_number = count(1)
HERE, ELSEWHERE = ("tidy-news", "wide-news"), ("other-news",)
# Fields without which nothing could be done with a row.
FIELDS = {
    "leaderboard.InstanceChoice": {"ranks_before": list(range(40))},
    "crowd.PayoutRun": {"approved_at": timezone.now()},
    "crowd.Payout": {"amount_cents": 0},
    "crowd.Requirement": {"pool_id": HERE[0]},
    "crowd.OutwardCall": {"kind": "BONUS"},
    "crowd.QualificationQuestion": {
        "text": "Which?", "choices": "This.\nThat.", "expected": {"choice": 0}
    },
    "quality.HeldExclusion": {"proposed_at": timezone.now()},
    "quality.RetiredQuestion": {"retired_at": timezone.now()},
    "django_q.Failure": {"success": False, "func": "genie.lib.jobs.n_waiting"},
}  # fmt: skip
# What a row may be beside its state, as fields of the row or of what it leads to.
FAILED = {"failure": "Broken.", "n_attempts": 3}
BESIDE = {
    "excluded": {"": {"excluded": True}},
    "limited": {"": {"limited_to": ["other-news"]}},
    "with a share": {"": {"worker_share": 0.2}},
    "failed": {"": FAILED, "evaluation": FAILED},
    "closing": {"campaign": {"state": "STOPPED", "completed_at": None}},
    "partial": {"campaign": {"state": "STOPPED"}},
    "ranked": {"campaign": {"state": "STOPPED"}, "evaluation": {"ranks_partial": True}},
}
MORE = {
    "crowd.Worker include_selected": ["excluded"],
    "crowd.Worker exclude_selected": ["excluded"],
    "crowd.Worker lift_limit_selected": ["limited"],
    "crowd.Campaign lift_share_selected": [
        "RUNNING with a share",
        "STOPPED with a share",
    ],
    "leaderboard.Submission retry_selected": ["ANNOTATING failed"],
    "leaderboard.Submission go_on_selected": ["ANNOTATING closing"],
    "leaderboard.Submission stop_selected": ["ANNOTATING closing"],
    "leaderboard.Submission rank_partial_selected": ["PUBLISHED partial"],
    "leaderboard.Submission unrank_partial_selected": ["PUBLISHED ranked"],
    "leaderboard.Comparison retry_selected": ["ANNOTATING failed"],
    "leaderboard.JointEvaluation retry_selected": ["ANNOTATING failed"],
}
State = Submission.State
AT_WORK = (State.ANNOTATING, State.ANNOTATED, State.STOPPED, State.PUBLISHED)


def states_of(model, way):
    """Return the states of a kind of thing, or of the evaluation that it has."""
    of = HumanEvaluation if model in (Comparison, JointEvaluation) else model
    named = [field for field in of._meta.fields if field.name == "state"]
    shown = Submission.State.choices if of is Submission else [("", "")]
    states = list(named[0].choices) if named else shown
    if model is Ban:  # the others are on the list of held exclusions only
        states = [(one, "") for one in (Ban.State.IN_FORCE, Ban.State.LIFTED)]
    return [state for state, _ in states] + MORE.get(f"{model._meta.label} {way}", [])


def fill(model, known, **fields):
    """Make a row whose required fields have something, from rows that are known."""
    values = {**FIELDS.get(model._meta.label, {}), **fields}
    for field in model._meta.concrete_fields:
        if field.name == "pool":
            values.setdefault(field.attname, HERE[0])
        given = field.name in values or field.has_default() or field.null
        given = given or field.name == "pool" or isinstance(field, models.AutoField)
        if given or field in model._meta.parents.values():
            continue
        if isinstance(field, models.ForeignKey):
            of = field.related_model
            values[field.name] = known.get(of) or fill(of, known)
        elif field.choices:
            values[field.name] = field.choices[0][0]
        elif not field.blank:
            values[field.name] = value_for(field, next(_number))
    row = model._default_manager.create(**values)
    known.setdefault(model, row)
    return row


class Rows:
    """Two of everything that staff act on, and one of each in any state."""

    def __init__(self, people):
        owner, rival = people["submitter"], people["rival"]
        self.team, self.known = make_team("Team Heron", owner), {}
        self.known[get_user_model()] = owner
        for slug in (*ELSEWHERE, HERE[0]):
            task = make_task(slug=slug)
            submission = self.submission(State.ANNOTATING, task, f"Owl on {slug}")
            item, *_ = submission.human_evaluation.subjects.all()
            work = answer(item.item, make_worker())
            paid = answer(
                make_item(work.hit.campaign, "paid"), make_worker(), state="APPROVED"
            )
            entry = pay(paid, state=LedgerEntry.State.PLANNED)
        self.task = task
        cast = SimpleNamespace(rival=rival, rival_team=make_team("Team Rook", rival))
        comparison, joint = requested(task, cast)
        run = judge_run(task)
        wide = make_task(slug=HERE[1], n_instances=40, sample_size=3)
        self.known |= {
            Submission: submission, HumanEvaluation: submission.human_evaluation,
            Campaign: work.hit.campaign, HITType: work.hit.campaign.hit_type, HIT: work.hit,
            Assignment: work, Worker: work.worker, LedgerEntry: entry, Item: item.item,
            Comparison: comparison, JointEvaluation: joint, JudgeRun: run, Judge: run.judge,
            Task: wide, Team: make_team("Team Wren"), Instance: wide.instances.first(),
        }  # fmt: skip
        test = fill(QualificationTest, self.known, n_asked=1)
        fill(test.questions.model, self.known, test=test)
        ban = fill(Ban, self.known)
        fill(Appeal, self.known, ban=ban, pool_id=HERE[0])
        of_session = Assignment._meta.get_field("session_work").related_model
        fill(of_session, self.known, assignment=paid)
        verdict = fill(Verdict, self.known, worker=make_worker())
        fill(HeldExclusion, self.known, worker=make_worker(), verdict=verdict)
        self.known[TestQuestion] = fill(RetiredQuestion, self.known)
        fill(JudgeBudget, self.known, task=task, judge=None, cents=9_999)

    def submission(self, state, task=None, name="Crane"):
        row = make_submission(
            task or self.task, team=self.team, owner=self.known[get_user_model()],
            system=name, state=state,
        )  # fmt: skip
        make_predictions(row, f"{name} wrote {{0}}.")
        if state in AT_WORK:
            make_evaluation(row)
        return row

    def row(self, model, state):
        """Return the row of a kind of thing in a state, perhaps with something beside it."""
        if model is Submission and state:
            return self._beside(self.submission(state.split()[0]), state)
        found = self.known.get(model) or fill(model, self.known)
        own = state.split()[0] if state and state not in BESIDE else ""
        if own:
            model._default_manager.filter(pk=found.pk).update(state=own)
        if model._meta.label == "crowd.PayoutRun" and own:
            found.payouts.update(state={"CLOSED": "PAID"}.get(own, own))
        found = model._default_manager.get(pk=found.pk)
        return self._beside(found, state)

    def _beside(self, row, state):
        name = next((name for name in BESIDE if state.endswith(name)), None)
        if name in ("partial", "ranked"):
            make_score(row, 60, n=1)
        if name == "closing":  # with money that is set aside
            fill(Commitment, {}, key=row.human_evaluation.campaign.key)
        for of, fields in BESIDE.get(name, {}).items():
            other = row
            if of:
                other = decide.evaluation_about(row)
            if of == "campaign":
                other = other.campaign
            names = {field.name for field in other._meta.concrete_fields}
            own = {key: value for key, value in fields.items() if key in names}
            if own:
                type(other)._default_manager.filter(pk=other.pk).update(**own)
        return type(row)._default_manager.get(pk=row.pk)
