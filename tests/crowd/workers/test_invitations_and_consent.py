from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.safestring import SafeString

from crowd.campaigns.selectors.starved import is_starved
from crowd.campaigns.services.work import next_assignment
from crowd.hit_templates import consent as consent_texts
from crowd.models import Consent, ConsentVersion, Invitation, Worker
from crowd.workers.selectors.eligible import (
    consent_text,
    consented_pools,
    is_open,
    open_campaigns,
)
from crowd.workers.services import invitations
from crowd.workers.services import invitations as consent
from genie.lib.errors import GenieError
from tests.crowd.making import POOL, make_campaign, make_worker
from tests.factories import make_user


@pytest.fixture
def token():
    return invitations.invite(make_user("sam"), "for Wim")


def refused(token, user):
    with pytest.raises(GenieError) as caught:
        invitations.redeem(token, user)
    return caught.value.code


def test_an_invitation_makes_one_person_a_worker(token):
    wim = make_user("wim")
    worker = invitations.redeem(token, wim)
    invitation = Invitation.own.get()
    assert worker.user == wim
    assert not worker.simulated
    assert list(invitation.workers.all()) == [worker]
    assert invitation.used_at is not None
    assert refused(token, make_user("wanda")) == "invitation-used"
    assert Worker.own.count() == 1
    second = invitations.invite(make_user("sara"))
    assert refused(second, wim) == "already-a-worker"
    assert Invitation.own.order_by("-pk")[0].n_taken == 0
    for wrong in ("", "x", "🙂" * 50, "'; --"):
        assert refused(wrong, wim) == "no-such-invitation"


def test_one_link_can_have_places_for_several_people_with_the_code_and_no_more():
    token = invitations.invite(make_user("sam"), "lab", places=2, code="north wind")
    assert refused(token, make_user("eve")) == "wrong-code"
    people = [make_user(name) for name in ("wim", "wanda")]
    came = [invitations.redeem(token, one, " north wind ") for one in people]
    invitation = Invitation.own.get()
    assert list(invitation.workers.all()) == came
    assert invitation.used_at is not None
    assert refused(token, make_user("wes")) == "invitation-used"


@pytest.mark.every_engine
def test_the_last_place_is_not_taken_twice_by_who_looked_before(monkeypatch):
    token = invitations.invite(make_user("sam"))
    seen_before = Invitation.own.get()
    invitations.redeem(token, make_user("wim"))
    monkeypatch.setattr(invitations, "usable", lambda _token: seen_before)
    assert refused(token, make_user("wanda")) == "invitation-used"
    assert Worker.own.count() == 1


@pytest.mark.every_engine
def test_who_sends_the_form_twice_at_once_takes_one_place(monkeypatch):
    token = invitations.invite(make_user("sam"), places=2)
    wim = make_user("wim")
    column = invitations.F

    def late(name):
        monkeypatch.setattr(invitations, "F", column)
        # the other request is through just before this one takes its place
        invitations.redeem(token, wim)
        return column(name)

    monkeypatch.setattr(invitations, "F", late)
    assert refused(token, wim) == "already-a-worker"


def test_a_token_is_kept_nowhere_and_runs_out(token):
    row = Invitation.own.values().get()
    assert token not in str(row)
    assert round((row["expires_at"] - row["created_at"]) / timedelta(days=1)) == 14
    Invitation.own.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert refused(token, make_user("wim")) == "invitation-expired"


def test_the_work_of_a_campaign_with_an_invitation_is_for_those_who_came_by_it():
    wim, wanda = make_worker(user=make_user("wim")), make_worker()
    campaign, other = make_campaign(pool="closed"), make_campaign(pool="open")
    token = invitations.invite(make_user("sam"), places=2, campaign=campaign)
    assert open_campaigns(wim) == [other]
    assert not is_open(wim, campaign)
    invitations.redeem(token, wim.user)
    assert refused(token, wim.user) == "already-a-worker"
    newcomer = invitations.redeem(token, make_user("nina"))
    assert refused(token, make_user("wes")) == "invitation-used"
    for guest in (wim, newcomer):
        assert open_campaigns(guest) == [campaign, other]
        assert is_open(guest, campaign)
    assert open_campaigns(wanda) == [other]


def test_who_comes_for_a_task_sees_its_work_first_and_all_other_after_it():
    older, wanted = make_campaign(pool="older"), make_campaign(pool="wanted")
    token = invitations.invite(make_user("sam"), pool="wanted")
    newcomer = invitations.redeem(token, make_user("nina"))
    assert open_campaigns(newcomer) == [wanted, older]


@pytest.mark.every_engine
def test_pseudonyms_do_not_tell_who_somebody_is():
    wim = make_user("wim")
    worker = invitations.register_worker(user=wim, platform_worker_id="wim@example.org")
    assert "wim" not in worker.pseudonym
    assert worker.pseudonym != make_worker().pseudonym
    one = invitations.register_worker(platform_worker_id="A1")
    assert invitations.register_worker(platform_worker_id="A1").pk == one.pk
    assert invitations.register_worker(platform_worker_id="A1", platform="mturk").pk != one.pk  # fmt: skip


def test_consent_is_kept_once_for_each_version_of_the_text():
    worker = make_worker(agreed=False)
    consent.give_consent(worker, POOL)
    consent.give_consent(worker, POOL)
    assert Consent.own.get().text_sha256 == consent_text(POOL).sha256
    assert consented_pools(worker, {POOL, "other"}) == {POOL}
    worker = make_worker()
    make_campaign(1)
    assert consented_pools(worker, {POOL}) == {POOL}


def test_the_words_of_each_version_are_kept(monkeypatch):
    consent.give_consent(make_worker(agreed=False), POOL)
    first = consent_text(POOL)
    changed = replace(first, html=SafeString("<p>New words</p>"), sha256="1" * 64)
    monkeypatch.setattr(
        "crowd.workers.services.invitations.consent_text", lambda *_: changed
    )
    consent.give_consent(make_worker(agreed=False), POOL)
    assert dict(ConsentVersion.own.values_list("sha256", "html")) == {
        first.sha256: first.html,
        "1" * 64: "<p>New words</p>",
    }


def test_a_template_can_have_its_own_text(monkeypatch, tmp_path):
    folder = tmp_path / "question-answering"
    folder.mkdir()
    (folder / "consent.md").write_text("# Only here\n\n<script>alert(1)</script>")
    (tmp_path / "consent.md").write_text("# Everywhere")
    monkeypatch.setattr(consent_texts, "ROOT", tmp_path)
    consent_texts.consent_of.cache_clear()
    try:
        before = consent_text(POOL)
        worker = make_worker()
        make_campaign(1)
        after = consent_text(POOL)
        assert "<h1>Only here</h1>" in after.html
        assert "<script>" not in after.html
        assert "Everywhere" in before.html
        assert consented_pools(worker, {POOL}) == set()
    finally:
        consent_texts.consent_of.cache_clear()


def test_work_by_invitation_stays_closed_when_its_link_is_old():
    campaign = make_campaign(1)
    invitations.invite(make_user("sam"), "pilot", campaign=campaign)
    stranger = make_worker()
    consent.give_consent(stranger, POOL)
    assert not is_open(stranger, campaign)
    later = timezone.now() + timedelta(days=500)
    assert invitations.forget_before(later) == 1
    assert Invitation.own.get().note == ""
    assert invitations.forget_before(later) == 0
    assert not is_open(stranger, campaign)


def test_only_people_who_got_a_link_see_its_study():
    sam = make_user("sam")
    study, talks, open_to_all = (
        make_campaign(1, pool=pool) for pool in ("reviews", "talks", "open")
    )
    berta = make_worker(user=make_user("berta"))
    begun = make_worker("talks")
    tokens = [invitations.invite(sam, places=5, pool=one.pool_id) for one in (study, talks)]  # fmt: skip
    assert open_campaigns(berta) == [open_to_all]
    assert not is_open(berta, talks)
    invitations.redeem(tokens[0], berta.user)
    newcomer = invitations.redeem(tokens[0], make_user("nina"))
    for guest in (berta, newcomer):
        assert open_campaigns(guest) == [study, open_to_all]
        assert not is_open(guest, talks)
        assert next_assignment(guest, "talks") is None
    invitations.redeem(tokens[1], berta.user)
    assert open_campaigns(berta) == [study, talks, open_to_all]
    # whoever had agreed to take part before there was a link goes on
    assert open_campaigns(begun) == [talks, open_to_all]


def test_who_came_by_a_link_before_guests_were_kept_keeps_the_study():
    study = make_campaign(1, pool="reviews")
    newcomer = invitations.redeem(
        invitations.invite(make_user("sam"), pool="reviews"), make_user("nina")
    )
    newcomer.invited_to.clear()
    assert is_open(newcomer, study)


def test_a_link_opens_one_study_to_a_worker_limited_to_another():
    sam = make_user("sam")
    mine, study, other = (make_campaign(1, pool=pool) for pool in ("mine", "reviews", "other"))  # fmt: skip
    wim = invitations.redeem(
        invitations.invite(sam, limited_to=["mine"]), make_user("wim")
    )
    invitations.redeem(invitations.invite(sam, pool="reviews"), wim.user)
    wim.refresh_from_db()
    assert open_campaigns(wim) == [study, mine]
    assert not is_open(wim, other)


def test_an_invitation_limited_to_a_study_by_link_opens_it(wim):
    sam = make_user("sam")
    study, talks = (make_campaign(1, pool=pool) for pool in ("reviews", "talks"))
    for pool in ("reviews", "talks"):
        invitations.close_pool(pool, by=sam)
    invitations.redeem(invitations.invite(sam, limited_to=["reviews"]), wim.user)
    new = invitations.redeem(invitations.invite(sam, limited_to=["talks"]), make_user("new"))  # fmt: skip
    assert open_campaigns(wim) == [study]
    assert open_campaigns(new) == [talks]


def test_a_study_by_link_is_closed_before_and_after_it_has_a_link():
    study = make_campaign(1, pool="reviews")
    invitations.close_pool("reviews", by=make_user("sam"))
    invitations.close_pool("reviews", by=make_user("sara"))
    stranger = make_worker()
    assert not is_open(stranger, study)
    closing = Invitation.own.get()
    assert refused("", stranger.user or make_user("wes")) == "no-such-invitation"
    invitations.forget_before(timezone.now() + timedelta(days=500))
    assert Invitation.own.get() == closing
    assert not is_open(stranger, study)


def test_people_without_the_link_are_not_waited_for():
    study, other = make_campaign(1, pool="reviews"), make_campaign(1, pool="other")
    make_worker()
    token = invitations.invite(make_user("sam"), places=2, pool="reviews")
    assert is_starved(study, timezone.now())
    assert not is_starved(other, timezone.now())
    invitations.redeem(token, make_user("nina"))
    assert not is_starved(study, timezone.now())
