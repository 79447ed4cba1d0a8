"""Locks and transactions, watched in every test that has a database on SQLite.

SQLite has no locks of rows. Here Django believes that it has, and a lock is a comment. One
that is taken outside of a transaction fails the test, and so does a function that
returns without its locks, or that writes outside of a transaction or in two. A lock belongs to the innermost of these functions.
"""

import functools
import inspect
import re
import sys
import threading
from importlib import import_module

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3.features import DatabaseFeatures
from django.db.backends.sqlite3.operations import DatabaseOperations
from django.db.transaction import Atomic

from tests import cuts

# By package, what is watched beside the functions of tests/cuts.py. After the sign of
# equality are the tables of which it locks rows; with a question mark, only when it writes.
# The callers of those with an asterisk open the transaction.
WATCHED: dict[str, str] = {
    "crowd.campaigns.services": """
        add_money:add_money=campaign change_reward:_keep_type_of_posted=externalcampaign change_reward:change_reward=campaign claim:_claim=worker
        claim:fill=assignment,worker claim:hold_page claim:may_take* claim:pass_on_reservation=reservation? more_answers:ask_for_more=campaign
        overturn:_lock=assignment,campaign reissue:_replace_in=campaign reissue:count_again=assignment review:reject=assignment,campaign run:reopen=campaign
        run:resume=campaign undo:change_page=assignment,campaign work:_store_paid*=campaign? work:store*
    """,
    "crowd.elsewhere.services": """
        attested:keep_terms* collect:_take=campaign collect:_take_in=externalsession decisions:_store_decision=externalsession reconcile:_overturn=campaign
        study:_follow=externalsession study:_note_answer=externalsession
    """,
    "crowd.hits.services": "build:extend=campaign build:take_back_slot* check_answers:keep_telemetry*",
    "crowd.messages": "services:send* services:send_from_requester*",
    "crowd.money.services": """
        bonuses:give=campaign budgets:_budgets=budget? budgets:commit budgets:divide=commitment budgets:set_aside_again=commitment budgets:set_limit=budget fair_pay:make_up=campaign
        payments:cancel* payments:plan_after_all* payouts:lock=payoutterms
    """,
    "crowd.requester": "api:_answer=requester",
    "crowd.requester.batches": "post:apply_reviews=requester post:post=requester post:stop=requester",
    "crowd.requester.services": """
        overturn:overturn=requester qualification_requests:ask=requester qualification_requests:send_test=requester settle:settle=requester? turns:_own=requester
        turns:accept=requester
    """,
    "crowd.worker_site": "arrival:_for_worker",
    "crowd.workers.admin": "people:InvitationAdmin._make_links people:_write",
    "crowd.workers.services": """
        exclusions:exclude=worker exclusions:from_all_work invitations:choose_profile=profile invitations:give_consent invitations:invite_raters invitations:redeem invitations:send
        qualification_tests:draft qualification_tests:new_version qualification_tests:publish=qualificationtest qualification_tests:retire
        requirements:of_campaign* test_attempts:_grant*=worker test_attempts:answer=testattempt test_attempts:grant_by_hand test_attempts:revoke
        test_attempts:start=worker
    """,
    "genie.accounts": "first_staff:make=content_type",
    "genie.history": "log:_number_some=loghead",
    "genie.lib": """
        admin:_is_gone database:best_effort jobs:settle jobs:enqueue_missing jobs:install jobs:retry_failure staff_actions:Action._act_on
    """,
    "genie.lib.queue": "broker:_Claiming.claim owners:Presence.begin owners:bury_the_dead waiting:put",
    "genie.upkeep": "doctor:examine engines:_old_tables_aside engines:working_copy rotation:_seal_some_anew",
    "leaderboard": "demo:_qualify",
    "leaderboard.evaluation": """
        campaigns:close_campaigns*=campaign machine:lock=humanevaluation rescoring:rescore=task?
    """,
    "leaderboard.evaluation.services": "qualification:ensure=task? refit:refit=task? request:part_with*=humanevaluation",
    "leaderboard.evaluation.strategies": "comparison:_finish=campaign",
    "leaderboard.imports.services": "bring_in:_refuse_overtaken=task take_back:take_back=task",
    "leaderboard.judges.selectors": "money:left_cents=judgebudget",
    "leaderboard.judges.services": "decide:resume=judgerun estimate:estimate=task license:_write=judge",
    "leaderboard.management.commands": "judge:Command.handle",
    "leaderboard.metric_board": "services:receive=user",
    "leaderboard.metric_runs": "services:_keep=metricrun services:_plan=metricrun?",
    "leaderboard.papers.task_figures": "keep:keep_published",
    "leaderboard.releases": "queued:request=task",
    "leaderboard.studio.services": """
        bring:_keep=draft bring:begin bring:read_now=draft? bring:say=draft bring:start=draft edit:change edit:delete=task edit:new_version keep:add keep:begin make:make more:_grow*=campaign more:add=task pilot:begin=draft
        pilot:close start:approve start:request=task
    """,
    "leaderboard.studio.views": "questions:hidden_questions start:_load=draft?",
    "leaderboard.submissions.services": "lifecycle:lock=submission submit:receive=team submit:team_for=user?",
    "leaderboard.tasks.services": "load:_load load:_refresh load:revise=task",
    "leaderboard.teams.services": """
        announce:_announce leave:delete=user notices:send teams:_lock_membership=team teams:accept teams:create teams:remove teams:set_role webhooks:queue_test
    """,
    "quality.appeals": """
        services:against_ban=worker services:against_exclusion=worker services:against_record=worker services:against_rejection=assignment services:against_requester=requesterassignment
    """,
    "quality.bans": """
        admin:impose=worker services:_lock_proposed=worker,ban services:ban=worker services:carry_out*=worker,detectorfit
    """,
    "quality.test_questions": "services:grade=campaign services:settle=campaign",
}
SEQUENCES, ONCE, *OTHERS = cuts.UNCUT.values()
# What also writes single rows outside of a transaction, and what commits more than once.
ALONE = f"""{SEQUENCES} {ONCE}
    crowd.elsewhere.services.decisions:pay_bonuses crowd.elsewhere.services.retype:move
    crowd.elsewhere.services.study:_store_cost crowd.worker_site.arrival:_for_worker
    genie.lib.database:best_effort genie.lib.jobs:settle genie.lib.jobs:_work_off
    genie.lib.staff_actions:Action._act_on
    leaderboard.evaluation.admin.submission:_decided
    leaderboard.management.commands.judge:Command.handle
"""
SEVERAL = f"""{ALONE} {" ".join(OTHERS)}
    crowd.campaigns.services.claim:next_assignment genie.lib.jobs:enqueue_missing
    genie.lib.queue.broker:_Claiming.claim
    leaderboard.evaluation.strategies.comparison:ComparisonOfTwo.launch
    leaderboard.evaluation.strategies.joint:SideBySide.launch
    leaderboard.evaluation.strategies.single_system:SingleSystem.launch
    leaderboard.studio.services.start:approve
"""
LOCK = "/* FOR UPDATE */"
_now = threading.local()
_wrong: dict[str, None] = {}


class Call:
    def __init__(self):
        self.wrote_in, self.locked = set(), set()


def watch() -> None:
    """Watch the functions for the rest of the session."""
    for name in ("update", "no_key_update", "update_of"):
        setattr(DatabaseFeatures, f"has_select_for_{name}", True)
    DatabaseOperations.for_update_sql = _lock
    Atomic.__enter__ = _numbering(Atomic.__enter__)
    hooks = BaseDatabaseWrapper.run_and_clear_commit_hooks
    BaseDatabaseWrapper.run_and_clear_commit_hooks = _after_commit(hooks)
    connection.execute_wrappers.insert(0, _note)
    new = dict(filter(None, (watch_one(name, *one) for name, one in watched().items())))
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith(cuts.OURS):
            own = {k: v for k, v in vars(module).items() if not k.startswith("__")}
            for names in [vars(module), *own.values()]:
                for key, value in list(names.items()) if type(names) is dict else ():
                    if id(value) in new:
                        names[key] = new[id(value)]


def watched() -> dict[str, tuple[bool, set[str]]]:
    """Return by function whether callers open its transaction, and what it locks."""
    listed = " ".join([*cuts.CUT.values(), *cuts.UNCUT.values()]).split()
    found = {name: (False, set()) for name in listed}
    for package, words in WATCHED.items():
        for name, _, tables in (word.partition("=") for word in words.split()):
            inside = name.endswith("*"), set(filter(None, tables.split(",")))
            found[f"{package}.{name.rstrip('*')}"] = inside
    return found


def wrong() -> list[str]:
    """Return what was wrong since the last call."""
    found = list(_wrong)
    _wrong.clear()
    return found


def _calls() -> list[Call]:
    return vars(_now).setdefault("calls", [])


def _block():
    """Return the outermost transaction of the product, below that of the test."""
    return next((b for b in connection.atomic_blocks if not b._from_testcase), None)


def _lock(_self, **_):
    if _block() is None:
        _wrong["a lock outside of a transaction"] = None
    return LOCK


def _numbering(enter):
    def numbered(block):
        if not block._from_testcase and _block() is None:
            _now.number = getattr(_now, "number", 0) + 1
        return enter(block)

    return numbered


def _after_commit(run):
    def alone(self):
        held, _now.calls = _calls(), []
        run(self)
        _now.calls = held

    return alone


def _note(execute, sql, params, many, context):
    if calls := _calls():
        if sql.lstrip().startswith(cuts.WRITES):
            number = _block() and _now.number
            for call in calls:
                call.wrote_in.add(number)
            locked = r'FROM "[a-z]+_(\w+)"(?:(?!FROM).)*' + re.escape(LOCK)
            calls[-1].locked.update(re.findall(locked, sql))  # in conditions
        elif sql.endswith(LOCK):
            calls[-1].locked.add(re.search(r'FROM "[a-z]+_(\w+)"', sql)[1])
    return execute(sql, params, many, context)


def watch_one(name, inside, tables):
    """Watch a function; return its id and what it is now, if others may have imported it."""
    module, _, path = name.partition(":")
    *classes, last = path.split(".")
    owner = functools.reduce(getattr, classes, import_module(module))
    real = vars(owner)[last]
    if inspect.isgeneratorfunction(inspect.unwrap(real)):
        return None
    several, alone = name in SEVERAL.split(), name in ALONE.split()

    @functools.wraps(real)
    def guarded(*args, **kwargs):
        call, calls = Call(), _calls()
        if _note not in connection.execute_wrappers:  # of another thread
            connection.execute_wrappers.insert(0, _note)
        if inside and not calls:  # a test is the caller
            return real(*args, **kwargs)
        calls.append(call)
        try:
            answer = real(*args, **kwargs)
        finally:
            calls.remove(call)
        needed = {one.rstrip("?") for one in tables if call.wrote_in or one[-1] != "?"}
        if lacking := needed - call.locked:
            _wrong[f"{name} returns without a lock of {sorted(lacking)}"] = None
        if None in call.wrote_in and not alone:
            _wrong[f"{name} writes outside of a transaction"] = None
        if len(call.wrote_in) > 1 and not several:
            _wrong[f"{name} is more than one transaction"] = None
        return answer

    setattr(owner, last, guarded)
    return None if classes else (id(real), guarded)
