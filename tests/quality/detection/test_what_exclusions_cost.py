"""Staff see on a fit's page how many of the excluded are expected to be honest."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from quality.detection.admin.fits import decisions
from quality.models import DetectorFit, Verdict
from tests.factories import make_user, make_worker

pytestmark = pytest.mark.django_db
P_NOISY = [1.0, 0.995, 0.97, 0.6, 0.2, 0.0]


@pytest.fixture
def fit():
    fit = DetectorFit.objects.create(
        pool="tidy-news",
        polarity="NEGATIVE",
        detector="rate-guarded-2",
        counts_sha256="0" * 64,
        n_workers=len(P_NOISY),
        seed=1,
        code_version="0",
        posteriors=[[n, 10, p, p > 0.99] for n, p in enumerate(P_NOISY)],
    )
    for n, p in enumerate(P_NOISY):
        Verdict.objects.create(
            fit=fit,
            worker=make_worker(),
            n_questions=10,
            n_correct=n,
            p_noisy=p,
            threshold=0.99,
            noisy=p > 0.99,
        )
    return fit


@pytest.fixture
def page(fit):
    client = Client()
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))

    def get(query=""):
        path = f"/admin/quality/detectorfit/{fit.pk}/change/{query}"
        return re.sub(r"<[^>]+>|\s+", " ", client.get(path).text)

    return get


def test_expected_errors_are_sums_of_the_posteriors(fit):
    found = decisions(fit)
    assert (found.n_workers, found.in_force.n_banned) == (6, 2)
    assert found.in_force.expected_wrong_bans == pytest.approx(0.005)
    assert found.in_force.expected_missed == pytest.approx(0.97 + 0.6 + 0.2)
    # with the third, (0 + .005 + .03) / 3 are honest: more than one in a hundred
    assert found.most.n_banned == 2
    by_threshold = {row.threshold: row for row in found.rows}
    assert by_threshold[0.5].n_banned == 4
    assert by_threshold[0.5].false_discovery_rate == pytest.approx(0.435 / 4)


def test_the_page_says_it_in_words_and_as_a_table(page):
    text = " ".join(page().split())
    assert (
        "Of the 2 workers judged noisy by this fit, about 0.01 are expected to be "
        "honest. Of the others, about 1.8 are expected to be noisy." in text
    )
    assert "0.99 (in force) 2 0.01 0 % 1.77" in text
    assert "0.5 4 0.44 11 % 0.20" in text
    assert "At most 2 workers could be excluded together" in text


def test_costs_become_a_threshold(page):
    # three noisy workers kept are as bad as one honest worker excluded
    assert "0.75 (by your costs) 3 0.04 1 % 0.80" in " ".join(page("?wrong=3").split())
    assert "greater than or equal to" in page("?wrong=-1")


def test_a_fit_without_verdicts_has_no_table(fit, page):
    Verdict.objects.all().delete()
    assert "are honest?" not in page()
