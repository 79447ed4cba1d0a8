"""What the product's pages, jobs, API and commands cannot reach has no place in it."""

from pathlib import Path

import pytest

from tests.reachable import Product

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent
APPS = ["genie", "crowd", "quality", "leaderboard"]
# where requests, jobs and commands come in
ROOMS = {
    "urls", "wsgi", "asgi", "settings", "schedules", "apps", "checks", "jobs", "admin", "management",
    "models", "views", "pages", "hooks", "api", "worker_site", "templatetags",
}  # fmt: skip
ENTRIES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if ROOMS & set(path.relative_to(ROOT / app).with_suffix("").parts)
    or path.stem.endswith("_admin")
]
# the RankME paper's agreement, which we offer by name; the pair of `no_ratings`
OFFERED = {
    ("quality.agreement.icc", "icc"),
    ("quality.detection.stats.workers.answers", "no_tests"),
}
PURE = [
    "quality.agreement",
    "quality.authenticity.stats",
    "quality.detection.stats",
    "quality.test_questions.edits",
    "quality.test_questions.separability",
    "leaderboard.stats",
    "leaderboard.metrics",
    "leaderboard.charts",
    "leaderboard.designs",
    "leaderboard.metric_board.charts",
    "leaderboard.metric_board.readers",
    "leaderboard.metric_board.stats",
    "leaderboard.submissions.preflight",
    "leaderboard.submissions.readers",
    "leaderboard.tasks.config",
    "leaderboard.tasks.drafts",
    "leaderboard.tasks.intake",
    "leaderboard.tasks.readers",
    "crowd.scales",
    "crowd.pricing",
]


@pytest.fixture(scope="module")
def product():
    return Product(ROOT, APPS)


@pytest.fixture(scope="module")
def reached(product):
    return product.reached_from(ENTRIES)


@pytest.fixture(scope="module")
def public(product):
    return {
        (module.name, name) for module in product.inside(PURE) for name in module.public
    }


def test_every_public_function_of_the_pure_rooms_is_used(public, reached):
    dead = public - reached
    assert dead - OFFERED == set(), "no page, job, API or command reaches them"
    assert dead >= OFFERED


def test_every_name_of_research_serves_one_of_its_commands():
    research = Product(ROOT / "research", ["genie_research"])
    reached = research.reached_from(
        ["genie_research.management", "genie_research.command"]
    )
    public = {(module.name, name) for module in research.modules.values() for name in module.public}  # fmt: skip
    assert sorted(public - reached) == []
    assert len(public) > 100


def test_what_the_product_surely_uses_is_found(public, reached):
    assert len(public & reached) > 300
    assert ("leaderboard.stats.intervals", "bootstrap_mean") in reached
    # found by discovery, from a job named in a string, from a name in a module
    assert ("leaderboard.metrics.sacrebleu_metrics", "ChrF") in reached
    assert ("leaderboard.jobs", "advance") in reached
    assert ("leaderboard.stats.ranking", "RankRange") in reached
