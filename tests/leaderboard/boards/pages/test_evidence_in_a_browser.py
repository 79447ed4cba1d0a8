"""The pages that say how sure a board is, in a real browser."""

import pytest

from tests.browser import go, look, overflows, violations
from tests.factories import make_many_ranked, make_metrics, make_task, make_worker
from tests.leaderboard.boards.pages.judged import judge

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "Kingfisher-13B-instruct-v2-long-context-preview-with-a-name-without-an-end"


def test_every_page_fits_a_phone_and_axe_finds_nothing(open_page, cast):
    task = make_task(n_instances=12, sample_size=12, licence="CC0")
    task.config["human"]["criteria"] = {"overall": "Is it good?", "fluency": "Fluent?"}
    task.save()
    workers = [make_worker() for _ in range(4)]
    both = {"owner": cast.submitter, "team": cast.team, "workers": workers}
    found = [
        judge(task, quality, seed=seed, system=system, simulated=seed == 2, **both)
        for seed, (system, quality) in enumerate(
            [(LONG, 0.8), ("Wren", 0.75), ("Robot", 0.5)]
        )
    ]
    make_metrics(found[0], sacrebleu=30)
    base, one = "/tasks/tidy-news", f"/submissions/{found[0].pk}"
    troubles = []
    page = open_page(f"{base}/")
    for path in (
        f"{base}/?scored=1&columns=all",
        f"{base}/pairs/",
        f"{base}/methods/",
        f"{base}/weights/?w.overall=2",
        f"{base}/outputs/",
        f"{base}/pairs/?s={found[0].pk}&s={found[1].pk}",
        f"{base}/?open={found[0].pk}",
        f"{base}/check/",
        f"{one}/card/",
        f"{one}/?by=rating&against={found[1].pk}",
    ):
        look(page, "phone", "light")
        go(page, path)
        troubles += [(path, line) for line in violations(page)]
        troubles += [(path, "overflows")] if overflows(page) else []
        look(page, "desktop", "dark")
        troubles += [(path, line) for line in violations(page)]
    assert troubles == []


# The first row's place, the plot's share of the table, pairs of size and weight, words.
MEASURES = """() => {
  const at = name => document.querySelector(`table.board ${name}`).getBoundingClientRect()
  const pairs = new Set(), walker = document.createTreeWalker(document.body, 4)
  let words = 0
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement, text = walker.currentNode.data.trim()
    if (!text || e.closest(".hidden-visually, .skip, script, option")) continue
    if (!e.checkVisibility()) continue
    const { fontSize, fontWeight } = getComputedStyle(e)
    pairs.add(fontSize + fontWeight)
    words += text.split(/\\s+/).length
  }
  const share = at("tbody .iv").width / at("tbody tr:has(.iv)").width
  return [at("tbody td").top + scrollY, share, pairs.size, words]
}"""
IN_TABLE = "!!document.activeElement.closest('main table tbody')"


def test_the_table_is_in_the_first_screen_and_six_stops_away(open_page, who):
    task = make_task("many", title="A task whose title takes more than one line")
    make_many_ranked(task, 12, **who)
    page = open_page("/tasks/many/")
    for width, height, first_row in ((1440, 900, 240), (390, 844, 360)):
        page.set_viewport_size({"width": width, "height": height})
        top, share, n_pairs, n_words = page.evaluate(MEASURES)
        assert top <= first_row
        assert share >= 0.6
        assert n_pairs <= 8
        assert n_words <= 200
        assert violations(page) == []
        assert not overflows(page)
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate(IN_TABLE):
            break
    assert page.evaluate(IN_TABLE)
    # in the mode of comparisons, the button follows
    go(page, "/tasks/many/?compare")
    assert (
        page.get_by_role("button", name="Compare selected").evaluate(
            "e => getComputedStyle(e.parentElement).position"
        )
        == "sticky"
    )
    # what can be chosen lies over the table and inside the screen
    page.get_by_text("Sort, filter").click()
    box = page.locator(".choose[open] .panel").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert violations(page) == []
