"""What workers read, in one language from the title to the answers."""

from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client
from django.urls import reverse

from crowd import hit_templates
from crowd.campaigns.services import review, work
from crowd.elsewhere.services.hit_offer import SALT
from crowd.hit_templates import foreign
from crowd.hit_templates import template as templates
from crowd.hit_templates.consent import ENGLISH, consent_of
from crowd.hit_templates.form import CHECKBOXES_IN
from crowd.hits.selectors import (
    language_for,
    languages_of,
    translate_hit_type,
    wording_in,
)
from crowd.hits.services.build import shared_hit_type
from crowd.models import (
    Assignment,
    Consent,
    Profile,
    QualificationQuestion,
    QualificationTest,
    Rating,
)
from crowd.scales.base import all_scales
from crowd.workers.selectors.eligible import consent_text, consented_pools
from crowd.workers.selectors.test_wording import find_untranslated
from crowd.workers.services import (
    invitations,
    qualification_tests,
    requirements,
    test_attempts,
)
from genie.lib.errors import GenieError
from genie.lib.unguessable import name_for
from leaderboard.evaluation.selectors.worker_figures import worker_figures
from leaderboard.releases.card import _languages as languages_in_words
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.services import configuration
from tests.crowd.making import (
    POOL,
    do_one,
    hit_type,
    item,
    make_campaign,
    make_worker,
    send_in,
)
from tests.factories import make_user, signed_in

OVERALL = "This is a correct and reasonable answer to the question."
# how often they name the only work; earnings by day, and HIT by HIT
LISTS = {"earnings": 3, "settings": 1, "messages": 1}
SITE = [code for code, _ in settings.LANGUAGES if code != ENGLISH]
READ_BY = (
    "crowd.hits.selectors.get_language",
    "crowd.workers.selectors.eligible.get_language",
    "crowd.workers.selectors.test_wording.get_language",
    "crowd.worker_site.hit.get_language",
)


@pytest.fixture
def site_in(monkeypatch):
    def chosen(language):
        for name in READ_BY:
            monkeypatch.setattr(name, lambda: language)

    return chosen


def asked(**fields):
    return hit_type(**{"criteria": {"overall": OVERALL}, **fields})


def test_all_that_we_ship_can_be_read_in_every_language_of_the_site():
    assert {ENGLISH, *SITE} == {*consent_of()}
    assert {*SITE} == {*CHECKBOXES_IN}
    assert all(
        {*SITE} == {*one.words} for one in hit_templates.all_templates().values()
    )
    for scale in all_scales().values():
        for language in SITE:
            said = scale.in_language(language)
            assert scale.is_in(language)
            assert [one.raw for one in said.options] == [o.raw for o in scale.options]
            labels = {option.label for option in said.options}
            assert len(labels) == len(scale.options)


def test_work_is_offered_in_a_language_only_where_all_of_it_is_there():
    assert set(languages_of(asked())) == {"en", *SITE}
    own_question = asked(criteria={"overall": "Is it kind?"})
    assert languages_of(own_question) == ["en"]
    assert wording_in(own_question, "de").missing == ["questions.overall"]
    own_words = asked(form={"instructions": "# Read"})
    assert wording_in(own_words, "de", ["Poem"]).missing == [
        "instructions",
        "labels.Poem",
    ]
    both = {"questions": {"overall": "Nett?"}, "instructions": "# Lies"}
    form = {"instructions": "# Read", "languages": {"de": both, "fi": both}}
    in_both = asked(criteria={"overall": "Is it kind?"}, form=form)
    assert languages_of(in_both) == ["en", "de"]  # the scale has no Finnish
    assert wording_in(in_both, "fi").missing == ["scale"]


def test_translated_work_goes_by_the_name_of_its_task():
    title = wording_in(asked(title="Rate texts: Sky and Salt"), "fr").title
    assert title == "Juger la réponse à une question · Sky and Salt"


def test_a_task_written_in_another_language_falls_back_to_it():
    german = asked(criteria={"overall": "Ist das nett?"}, form={"language": "de"})
    assert languages_of(german) == ["de"]
    assert language_for(german, "fr") == language_for(german, None) == "de"
    assert language_for(asked(), "de-at") == "de"
    assert language_for(asked(), "pt") == "en"


@pytest.mark.parametrize("language", ["Deutsch", "de-DE", "de\nX-Header: y"])
def test_a_task_names_its_language_as_pages_do(language):
    [problem] = configuration.language_problems(
        "human", HumanConfig(language=language), []
    )
    assert str(problem).startswith("human.language: is no code of a language")


def test_fingerprints_of_work_in_one_language_are_what_they_were():
    assert shared_hit_type(hit_type(form={"setup": 2})).fingerprint == FINGERPRINT


def test_a_hit_is_in_the_workers_language_and_keeps_it(site, wim, site_in):
    campaign = make_campaign(2, hit_type=asked())
    site_in("de")
    assignment = work.next_assignment(wim)
    assert assignment.language == "de"
    site_in("fr")
    address = reverse("work:hit", args=[assignment.pk])
    page = site.get(address)
    for text in ("Frage", "Antwort", "Das ist eine richtige", "Stimme gar nicht zu"):
        assert text in page.text
    for text in ("Strongly", "correct and reasonable", "<h2>Question</h2>"):
        assert text not in page.text
    assert page["Content-Language"] == "de"
    guide = site.get(reverse("work:instructions", args=[POOL]), {"hit": assignment.pk})
    assert "<h1>Antworten beurteilen</h1>" in guide.text
    refused = site.post(address, {}, headers={"accept": "application/json"})
    assert refused.json()["error"] == "Bitte beantworten Sie jede Frage."
    site.post(address, {"answer-0-0": "0.25"})
    assert Rating.own.get().value == 0.25
    second = Assignment.own.get(state=Assignment.State.ACCEPTED)
    assert second.language == "fr"
    figures = worker_figures([campaign])
    assert figures.languages == ("de",)
    assert figures.by_language == {}  # one worker


def test_an_input_whose_label_nobody_translated_is_shown_in_the_tasks_language(site_in):
    odd = item("odd")
    odd.data["fields"][0]["label"] = "Riddle"
    make_campaign(of=[odd], hit_type=asked())
    site_in("de")
    assert work.next_assignment(make_worker()).language == "en"


def test_languages_that_few_read_are_counted_together_or_not_at_all(site_in):
    campaign = make_campaign(9, hit_type=asked())
    for language in ("de", "de", "de", "fr", "fr"):
        site_in(language)
        send_in(work.next_assignment(make_worker()))
    assert worker_figures([campaign]).by_language == {}
    site_in("es")
    send_in(work.next_assignment(make_worker()))
    assert worker_figures([campaign]).by_language == {"de": 3, "others": 3}
    task = SimpleNamespace(human=SimpleNamespace(language="en"))
    [_, sentence] = languages_in_words(task, [campaign.pk])
    assert sentence == (
        "Workers were asked in de, es, fr (assignments by language: de 3, others 3)."
    )


def test_consent_is_given_in_the_words_that_were_read(site_in):
    worker = make_worker(agreed=False, user=make_user("wim"))
    make_campaign(1, hit_type=asked())
    client = signed_in(worker.user)
    site_in("ar")
    page = client.get(reverse("work:consent", args=[POOL]))
    assert "<h1>قبل أن تبدأ</h1>" in page.text
    site_in("de")  # in another tab, before the yes is sent
    read = {"language": "ar", "version": consent_text(POOL, "ar").sha256}
    assert f'name="version" value="{read["version"]}"' in page.text
    # of an older version, or in a language that was taken out since
    for other in ({**read, "version": "0" * 64}, {**read, "language": "xx"}):
        again = client.post(reverse("work:consent", args=[POOL]), other)
        assert again["Location"] == reverse("work:consent", args=[POOL])
    assert not Consent.own.exists()
    client.post(reverse("work:consent", args=[POOL]), read)
    assert Consent.own.get().text_sha256 == consent_text(POOL, "ar").sha256
    assert consented_pools(worker, [POOL]) == {POOL}


def test_a_page_in_a_frame_is_in_the_language_that_is_asked_for(site_in, monkeypatch):
    monkeypatch.setattr("crowd.worker_site.hit.can", lambda _: Everything())
    hit = make_campaign(1, hit_type=asked()).hits.get()
    token = signing.dumps(hit.pk, name_for("posted"), salt=SALT)
    address = reverse("work:elsewhere", args=[token])
    site_in("en")
    assert 'name="language"' not in Client().get(address).text
    page = Client().get(address, {"lang": "ar"}).text
    assert '<html lang="ar" dir="rtl">' in page
    assert '<input type="hidden" name="language" value="ar">' in page
    assert "لا أوافق بشدة" in page


class Everything:
    answers_there = True


SALT_IN_GERMAN = {
    "text": "Ist Salz weiß?",
    "choices": "Ja\nNein",
    "explanation": "Salz ist ein Kristall.",
}


def salt_test(pool, text, explanation, in_german):
    titled = {"de": {"title": "Kurzer Test"}}
    test = QualificationTest(
        name="salt", pool_id=pool, title="A short test", translations=titled
    )
    question = QualificationQuestion(
        text=text,
        choices="Yes\nNo",
        expected={"choice": 0},
        explanation=explanation,
        translations={"de": in_german},
    )
    return qualification_tests.draft(test, [question])


def test_a_qualification_test_is_taken_in_one_language(site, wim, site_in):
    campaign = make_campaign(1)
    test = salt_test(
        campaign.pool_id, "Is salt white?", "Salt is a crystal.", SALT_IN_GERMAN
    )
    qualification_tests.publish(test.pk)
    site_in("de")
    assert "Kurzer Test" in site.get(reverse("work:test", args=["salt"])).text
    attempt = test_attempts.start(wim, "salt")
    site_in("fr")
    address = reverse("work:attempt", args=[attempt.pk])
    page = site.get(address).text
    assert "Ist Salz weiß?" in page
    assert "Nein" in page
    assert "Is salt white?" not in page
    result = site.post(address, {"position": "0", "choice": "1"}, follow=True)
    assert "Kurzer Test" in result.text
    assert "Salz ist ein Kristall." in result.text
    assert "Salt is" not in result.text
    assert find_untranslated(test, list(test.questions.all()), "fr") == "the title"


def test_a_test_with_half_a_translation_is_not_published():
    test = salt_test(POOL, "White?", "", {"text": "Weiß?", "choices": "Ja"})
    with pytest.raises(
        GenieError, match="question 1 with all its answers in the language de"
    ):
        qualification_tests.publish(test.pk)


FILES = {
    name: (hit_templates.ROOT / "question-answering" / name).read_text("utf-8")
    for name in (*templates.FILES, "template.de.toml", "instructions.de.md")
}


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("template.de.toml", "overall", "other", 'template.de.toml does not say questions."overall"'),
        ("template.de.toml", '"Answer"', '"Reply"', 'does not say shown."Answer"'),
        ("template.de.toml", '"Question" =', '"Ask" =', 'does not say labels."Question"'),
        ("template.de.toml", "title", 'scale = "binary"\ntitle', "only words differ by language"),
        ("template.de.toml", '"Antwort"', '"<b>"', "plain words only"),
        ("template.de.toml", '"Antwort"', '""', 'must say something at shown."Answer"'),
        ("template.de.toml", "[shown]", "[shown", "template.de.toml is no TOML"),
        ("instructions.de.md", None, None, "instructions.de.md is missing"),
        ("template.de.toml", None, None, "template.de.toml is missing"),
    ],
)  # fmt: skip
def test_what_a_template_does_not_say_in_a_language_is_named(name, old, new, sentence):
    files = dict(FILES)
    if old is None:
        del files[name]
    else:
        files[name] = files[name].replace(old, new, 1)
    with pytest.raises(GenieError) as refused:
        templates.template_of("question-answering", files)
    assert sentence in refused.value.message


def test_a_bundle_may_bring_a_template_in_several_languages():
    files = {name: text.encode() for name, text in FILES.items()}
    brought = foreign.read("my-answers", files)
    assert brought.in_words("de").title == "Die Antwort auf eine Frage beurteilen"
    shorter = FILES["instructions.de.md"].rpartition("\n| die Bl")[0].encode()
    with pytest.raises(GenieError, match="the same worked examples"):
        foreign.read("my-answers", {**files, "instructions.de.md": shorter})


def test_a_task_may_ask_for_people_who_speak_a_language():
    [required] = requirements.read(requirements.Wanted(languages=["de", "ar"]))
    assert required.language_codes == ["de", "ar"]
    with pytest.raises(GenieError, match="no two-letter codes"):
        requirements.read(requirements.Wanted(languages=["xx"]))


def test_the_list_of_work_says_it_in_the_language_of_the_page():
    make_campaign(1, hit_type=asked())
    client = Client(headers={"accept-language": "hi"})
    client.force_login(make_worker(user=make_user("wim")).user)
    assert "एक प्रश्न के उत्तर को आँकें" in client.get(reverse("work:home")).text
    page = client.get(reverse("work:instructions", args=[POOL]))
    assert "पूरी तरह सहमत" in page.text


def test_whatever_lists_work_names_it_in_the_language_of_the_page(wim):
    make_campaign(2, hit_type=asked(title="Rate texts: School Science"))
    choices = {"language": "de", "time_zone": "Europe/Berlin"}
    Profile.objects.create(worker=wim, **choices)
    do_one(wim)
    review.reject(do_one(wim).pk, None, "Nobody read it.")
    client = Client(headers={"accept-language": "de"})
    client.force_login(wim.user)
    pages = {name: client.get(reverse(f"work:{name}")) for name in LISTS}
    assert "(Europe/Berlin), wurde abgelehnt" in pages["messages"].text
    rejected = wim.assignments.get(state=Assignment.State.REJECTED)
    pages["appeal"] = client.get(reverse("appeals:work", args=[rejected.pk]))
    for name, page in pages.items():
        assert "Rate texts" not in page.text, name
        assert page.text.count("beurteilen · School Science") == LISTS.get(name, 1), (
            name
        )


def test_a_read_hit_type_is_a_copy():
    campaign = make_campaign(1, hit_type=asked())
    assert (
        translate_hit_type(campaign.hit_type, "hi").criteria
        != campaign.hit_type.criteria
    )
    invitations.give_consent(make_worker(), POOL, "no-such")
    assert campaign.hit_type.language == ""


FINGERPRINT = "27b26ed29b1dcc7fcd6d64f8d5cb6c4848ab10f3e3398904450b73121055a722"
