"""Prolific keeps the contract, against a stand-in of its server, and its own rules."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from crowd.platforms.base import (
    BonusSpec,
    DecisionSpec,
    ExternalRef,
    Identity,
    MoreSpec,
    get,
)
from crowd.platforms.prolific import Prolific
from crowd.platforms.prolific_protocol.calls import Account
from genie.lib.errors import GenieError
from leaderboard.contracts.platforms import REASON, PlatformContract, World, one
from tests.crowd.making import refused
from tests.crowd.platforms import prolific_standin as standin

PEOPLE = {"Wanda": "5f" + "a" * 22, "Wilma": "5f" + "b" * 22, "Wim": "5f" + "c" * 22}


class ProlificWorld(World):
    def __init__(self, server, **changed):
        self.server, self.there = server, server.prolific
        self.slept = []
        self.options = {
            "environment": "endpoint",
            "url": server.url,
            "token": standin.TOKEN,
            "workspace_id": standin.WORKSPACE,
            "code_secret": "a secret of this site",
            "timeout_seconds": 5.0,
            **changed,
        }
        self.platform = self.fresh()

    def fresh(self):
        return Prolific(Account(**self.options), sleep=self.slept.append)

    def n_offers(self):
        return len(self.there.studies)

    def n_posted(self):
        return sum(s["total_available_places"] for s in self.there.studies.values())

    def worker_id(self, who):
        return PEOPLE[who]

    def answer(self, ref, key, who):
        """Take a place, or go on with it, and hand in by the address we give."""
        study = ref.campaign_id
        found = self.there.take_place(study, PEOPLE[who])
        if found is None:
            return None
        session, address = found
        arrived = {k: v[0] for k, v in parse_qs(urlsplit(address).query).items()}
        identity = self.platform.identity(arrived)
        assert identity == Identity(PEOPLE[who], session, study)
        name = self.there.studies[study]["internal_name"]
        out = self.platform.completion(replace(identity, back_to=name), "completed")
        code = parse_qs(urlsplit(out.url).query)["cc"][0]
        assert self.there.come_back(session, code) == "AWAITING REVIEW"
        return session

    def status(self, session):
        there = self.there.submissions[session]["status"]
        return "submitted" if there == "AWAITING REVIEW" else there.lower()

    def paid_cents(self, who):
        return self.there.paid.get(PEOPLE[who], 0)

    def charged_cents(self):
        return self.there.rewards + self.there.fees


@pytest.fixture
def world(_server):
    _server.prolific = standin.Prolific()
    return ProlificWorld(_server)


@pytest.fixture
def ref(world):
    return ExternalRef(world.platform.publish(world.campaign()).platform_id)


class TestProlific(PlatformContract):
    def test_an_excluded_worker_is_kept_away_until_let_back_in(self, world, ref):
        """Here somebody does a study once; so it is those who did not do it yet."""
        wim = world.worker_id("Wim")
        for _ in range(2):
            out = world.platform.exclude("out-1", wim, "weather", "Not this work.")
            assert out.state == "done"
        assert world.answer(ref, "hit-2", "Wim") is None
        for _ in range(2):
            assert world.platform.include("in-1", wim, "weather").state == "done"
        assert world.answer(ref, "hit-2", "Wim") is not None


def paid_bonus(world, ref, who="Wanda"):
    session = world.answer(ref, "", who)
    wish = DecisionSpec("d", session, "approve")
    assert one(world.platform.decide([wish])).state == "done"
    return BonusSpec("bonus-1", PEOPLE[who], session, 25, "It took longer.")


def test_the_study_sends_people_to_us_and_names_each_way_out(world, ref):
    study = world.there.studies[ref.campaign_id]
    assert study["external_study_url"] == (
        "https://genie.example.org/work/?PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    kinds = {code["code_type"]: code for code in study["completion_codes"]}
    assert set(kinds) == {"COMPLETED", "FAILED_ATTENTION_CHECK", "OTHER", "NO_CONSENT"}
    assert len({code["code"] for code in kinds.values()}) == 4
    assert study["reward"] == 40
    assert study["total_available_places"] == 3
    assert study["status"] == "ACTIVE"
    world.there.studies[ref.campaign_id]["status"] = "COMPLETED"
    assert world.platform.resume(ref).state == "refused"


@pytest.mark.parametrize("kind", ["500 after", "reset after"])
@pytest.mark.parametrize("path", ["studies/", "studies/.*/transition/"])
def test_a_study_is_one_whatever_answer_got_lost(world, kind, path):
    world.there.faults = [["POST", path, kind, 1]]
    first = world.platform.publish(world.campaign())
    again = world.fresh().publish(world.campaign(sent="lately"))
    assert first.state in {"unknown", "done"}
    assert again.state == "done"
    assert [s["status"] for s in world.there.studies.values()] == ["ACTIVE"]


def test_a_server_that_is_busy_is_asked_again_and_then_left_alone(world):
    world.there.faults = [["POST", "studies/", "503", 99]]
    assert world.platform.publish(world.campaign()).state == "again"
    assert world.n_offers() == 0
    world.slept.clear()
    world.there.faults = [["GET", "studies/", "429", 2]]
    assert world.platform.publish(world.campaign()).state == "done"
    assert world.slept == [1.0, 1.0]


def test_without_money_nothing_is_opened(world):
    world.there.balance = 100
    result = world.platform.publish(world.campaign())
    assert (result.state, result.code) == ("again", "no-funds")
    assert [s["status"] for s in world.there.studies.values()] == ["UNPUBLISHED"]
    world.there.balance = 100_000
    assert world.platform.publish(world.campaign()).state == "done"
    assert [s["status"] for s in world.there.studies.values()] == ["ACTIVE"]


def test_pay_below_the_platforms_minimum_is_refused_in_its_words(world):
    result = world.platform.publish(world.campaign(expected_seconds=3600))
    assert result.state == "refused"
    assert "below the minimum" in result.message


def test_places_only_grow_to_what_our_books_say(world, ref):
    for sent in ("never", "lately", "long-ago"):
        wish = MoreSpec("more", "", 2, 3, sent)
        assert one(world.platform.add_capacity(ref, [wish])).state == "done"
    assert world.n_posted() == 5
    assert one(world.platform.add_capacity(ref, [MoreSpec("x", "", 1, 1)])).state == (
        "done"
    )
    assert world.n_posted() == 5


def test_places_that_are_taken_stay_closed_until_there_are_more(world, ref):
    for who in PEOPLE:
        assert world.answer(ref, "", who)
    world.there.studies[ref.campaign_id]["status"] = "AWAITING REVIEW"
    assert world.platform.close(ref).state == "done"
    assert world.platform.resume(ref).state == "done"
    assert world.there.take_place(ref.campaign_id, "5f" + "d" * 22) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"PROLIFIC_PID": ""},
        {"SESSION_ID": "a b"},
        {"STUDY_ID": "x" * 65},
        {"PROLIFIC_PID": "<script>"},
        {"SESSION_ID": "{{%SESSION_ID%}}"},
    ],
)
def test_an_address_without_usable_ids_is_refused(world, wrong):
    good = {"PROLIFIC_PID": "5f", "STUDY_ID": "60", "SESSION_ID": "61"}
    refused("who-are-you", world.platform.identity, {**good, **wrong})


def test_ways_out_have_codes_that_nobody_can_guess_from_another(world):
    codes = {
        world.platform.completion(Identity("5f", "61", "60", back_to=key), outcome).code
        for key in ("campaign-1", "campaign-2")
        for outcome in ("completed", "screened-out", "failed-check", "returned")
    }
    other = ProlificWorld(world.server, code_secret="of another site")
    codes.add(other.platform.completion(Identity("5f"), "completed").code)
    assert len(codes) == 9


def test_staff_are_told_of_codes_that_do_not_fit(world, ref):
    sessions = {}
    for who, code in [("Wanda", "NOCODE"), ("Wilma", "ABC")]:
        sessions[who], _ = world.there.take_place(ref.campaign_id, PEOPLE[who])
        world.there.come_back(sessions[who], code)
    sessions["Wim"], _ = world.there.take_place(ref.campaign_id, PEOPLE["Wim"])
    identity = Identity(PEOPLE["Wim"], back_to="campaign-1")
    out = world.platform.completion(identity, "failed-check")
    world.there.come_back(sessions["Wim"], out.code)
    told = {e.session_id: e.message for e in world.platform.sync(ref, None)}
    assert told == {
        sessions["Wanda"]: "Submitted without a completion code.",
        sessions["Wilma"]: "Submitted with the completion code of another study.",
        sessions["Wim"]: "Submitted with the completion code for failed-check.",
    }


def test_without_a_workspace_nothing_is_published_and_our_pages_keep_people_away(world):
    alone = ProlificWorld(world.server, workspace_id="")
    assert "WORKSPACE is not set" in alone.platform.publish(alone.campaign()).message
    assert alone.there.studies == {}
    assert alone.platform.exclude("k", PEOPLE["Wim"], "weather", "No.").state == "done"
    with pytest.raises(GenieError, match="GENIE_PROLIFIC_WORKSPACE is not set"):
        alone.platform.balance_cents()
    assert alone.there.groups == {}


def test_a_visit_that_prolific_does_not_know_is_not_vouched_for(world, ref):
    session, _ = world.there.take_place(ref.campaign_id, PEOPLE["Wanda"])
    true = Identity(PEOPLE["Wanda"], session, ref.campaign_id)
    assert world.platform.vouches_for(true) is True
    for wrong in (
        replace(true, worker_id=PEOPLE["Wim"]),
        replace(true, study_id="f" * 24),
        replace(true, session_id="f" * 24),
    ):
        assert world.platform.vouches_for(wrong) is False
    world.there.faults = [["GET", "submissions/.*", "reset", 1]]
    assert world.platform.vouches_for(true) is None


def test_all_pages_of_submissions_are_read(world):
    world.there.page_limit = 2
    ref = ExternalRef(world.platform.publish(world.campaign(n_places=9)).platform_id)
    people = [f"5f{n:022d}" for n in range(5)]
    for who in people:
        world.there.take_place(ref.campaign_id, who)
    events = list(world.platform.sync(ref, None))
    assert sorted(event.worker_id for event in events) == people


@pytest.mark.parametrize(
    ("there", "here"),
    [("RETURNED", "returned"), ("TIMED-OUT", "returned"), ("SCREENED OUT", "screened-out"), ("NEW WORD", "started")],
)  # fmt: skip
def test_states_there_are_states_here(world, ref, there, here):
    session, _ = world.there.take_place(ref.campaign_id, PEOPLE["Wanda"])
    world.there.as_published = there != "NEW WORD"
    world.there.give_up(session, there)
    assert one(world.platform.sync(ref, None)).status == here


def test_a_reason_is_long_enough_may_begin_with_its_category_and_is_final(world, ref):
    session = world.answer(ref, "", "Wanda")
    world.there.requests.clear()
    wish = DecisionSpec("d", session, "reject", "Too fast.")
    result = one(world.platform.decide([wish]))
    assert result.state == "refused"
    assert "100 characters" in result.message
    assert world.there.requests == []
    wish = DecisionSpec("d", session, "reject", f"TOO_QUICKLY: {REASON}")
    assert one(world.platform.decide([wish])).state == "done"
    assert world.there.submissions[session]["rejection"] == ("TOO_QUICKLY", REASON)
    again = DecisionSpec("e", session, "override", "We were wrong.")
    assert one(world.platform.decide([again])).state == "refused"


def test_a_submission_that_is_not_ready_is_decided_on_later(world, ref):
    session = world.answer(ref, "", "Wanda")
    world.there.processing.add(session)
    wish = DecisionSpec("d", session, "approve")
    assert one(world.platform.decide([wish])).state == "again"
    world.there.processing.clear()
    assert one(world.platform.decide([wish])).state == "done"


def test_who_is_screened_out_returns_and_cannot_be_approved(world, ref):
    session, _ = world.there.take_place(ref.campaign_id, PEOPLE["Wanda"])
    identity = Identity(PEOPLE["Wanda"], session, back_to="campaign-1")
    out = world.platform.completion(identity, "screened-out")
    assert world.there.come_back(session, out.code) == "RETURNED"
    assert one(world.platform.sync(ref, None)).status == "returned"
    result = one(world.platform.decide([DecisionSpec("d", session, "approve")]))
    assert (result.state, result.code) == ("refused", "decided-otherwise")


@pytest.mark.parametrize("kind", ["500", "500 after", "reset", "reset after"])
def test_a_bonus_of_unclear_outcome_is_never_sent_again(world, ref, kind):
    wish = paid_bonus(world, ref)
    before = world.paid_cents("Wanda")
    world.there.faults = [["POST", "bulk-bonus-payments/.*", kind, 1]]
    first = one(world.platform.bonus([wish]))
    assert first.state == "unknown"
    assert first.platform_id in world.there.bulks
    for sent in ("lately", "long-ago"):
        again = one(world.fresh().bonus([replace(wish, sent=sent)]))
        assert (again.state, "Check" in again.message) == ("unknown", True)
    pays = [p for _, p in world.there.requests if p.startswith("bulk-bonus")]
    assert len(pays) == 1
    assert world.paid_cents("Wanda") == before + (25 if "after" in kind else 0)


def test_a_bonus_that_was_surely_not_taken_can_be_tried_later(world, ref):
    wish = paid_bonus(world, ref)
    before = world.paid_cents("Wanda")
    for kind in ("429", "503"):
        world.there.faults = [["POST", "bulk-bonus-payments/.*", kind, 1]]
        assert one(world.platform.bonus([wish])).state == "again"
    left, world.there.balance = world.there.balance, 10
    result = one(world.platform.bonus([wish]))
    assert (result.state, result.code) == ("again", "no-funds")
    world.there.balance = left
    assert one(world.platform.bonus([wish])).state == "done"
    assert world.paid_cents("Wanda") == before + 25


def test_setting_a_bonus_up_pays_nothing_however_often(world, ref):
    wish = paid_bonus(world, ref)
    before = world.paid_cents("Wanda")
    path = "submissions/bonus-payments/"
    world.there.faults = [["POST", path, f"{how} after", 1] for how in ("500", "reset")]
    assert one(world.platform.bonus([wish])).state == "done"
    assert len(world.there.bulks) == 3
    assert world.paid_cents("Wanda") == before + 25


def test_bonuses_stand_apart_one_refused_does_not_stop_the_next(world, ref):
    good = paid_bonus(world, ref)
    bad = replace(good, key="bonus-0", session_id="f" * 24)
    results = list(world.platform.bonus([bad, good]))
    assert [r.state for r in results] == ["refused", "done"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"token": "t"},
        {"token": "t", "environment": "sandbox"},
        {"token": "t", "environment": "endpoint"},
        {"token": "t", "environment": "endpoint", "url": "http://example.org"},
        {"environment": "production"},
    ],
)
def test_nothing_is_called_before_the_account_is_named(options):
    refused("platform-not-configured", get, "prolific", options)


def test_production_is_the_published_address():
    account = Account(environment="production", token="t", url="http://example.org")
    assert account.base_url() == "https://api.prolific.com"
    gone = Prolific(
        Account(environment="endpoint", url="http://127.0.0.1:9", token="t", tries=2),
        sleep=lambda _: None,
    )
    refused("platform-unreachable", list, gone.sync(ExternalRef("60"), None))


def test_a_wrong_token_is_said_and_not_shown(world):
    other = ProlificWorld(world.server, token="not-the-token")
    result = other.platform.publish(other.campaign())
    assert result.state == "again"
    assert "not-the-token" not in result.message
    with pytest.raises(GenieError) as unreachable:
        other.platform.balance_cents()
    assert not unreachable.value.permanent
