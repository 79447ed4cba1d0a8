"""Staff give their word on the page where they approve comparisons, too."""

from django.test import Client

from leaderboard.evaluation import decide
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services.comparison import Question
from leaderboard.models import HumanEvaluation, TestCheck
from tests.leaderboard.evaluation.comparisons.conftest import config_with


def test_a_comparison_of_which_tests_stand_out_is_approved_with_a_word(
    task, wrong, level, boss, settings
):
    settings.GENIE = {**settings.GENIE, "TEST_QUESTIONS_CHECKED": True}
    config_with(
        task, positive_share=0.2, negative_share=0.2, test_questions="references"
    )
    found = compare.request(wrong, level[0], Question("overall", max_pairs=12), by=boss)
    # where people are asked
    HumanEvaluation.objects.update(simulated=False)
    decide.measure_together(found)
    client = Client()
    client.force_login(boss)
    page = f"/admin/leaderboard/comparison/{found.pk}/approve/"
    asked = client.get(page).text
    assert "Start although test questions stand out, because" in asked
    cents = asked.partition('name="shown_cents" value="')[2].partition('"')[0]
    sent = {"confirmed": "1", "shown_cents": cents, "reason": "", "despite": ""}
    refused = client.post(page, sent, follow=True).text
    assert "stand out" in refused
    assert TestCheck.objects.get().accepted_at is None
    client.post(page, {**sent, "despite": "A trial."}, follow=True)
    assert TestCheck.objects.get().accepted_because == "A trial."
    found.evaluation.refresh_from_db()
    assert found.evaluation.state == "APPROVED"
