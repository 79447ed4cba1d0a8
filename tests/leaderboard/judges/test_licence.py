"""A judge is licensed by people's ratings of the same outputs, or told why it is not."""

import html

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.judges.selectors.validation import drift_between, validation_of
from leaderboard.judges.services import license as licensing
from tests.factories import answer, make_evaluation, make_task, make_user, make_worker
from tests.kept import kept
from tests.leaderboard.judges.conftest import add_system, approved, make_script, worked


@pytest.fixture
def rated():
    return rated_task("Kite", "Wren")


def rated_task(*names):
    rng = np.random.default_rng(1)
    worth = rng.choice([0.0, 0.5, 1.0], (len(names), 20))
    off = 0.25 * rng.choice([-1, 0, 1], (len(names), 20, 4))
    said = np.clip(worth[:, :, None] + off, 0, 1).tolist()
    task = kept(f"rated {names}", lambda: rated_as(names, said))
    instances = task.instances.order_by("position")
    task.worth = {
        (system.pk, instance.pk): worth[n, instance.position]
        for n, system in enumerate(task.submissions.order_by("pk"))
        for instance in instances
    }
    return task


def rated_as(names, said):
    task, people = make_task(n_instances=20), [make_worker() for _ in range(4)]
    for name, of_system in zip(names, said, strict=True):
        text = lambda at: f"Text {'very ' * (at % 5)}{at}."  # noqa: E731
        system = add_system(task, name, text, state="PUBLISHED")
        items = make_evaluation(system).subjects.order_by("pk")
        for judged, values in zip(items, of_system, strict=True):
            for person, value in zip(people, values, strict=True):
                answer(judged.item, person, value)
    return task


def run_of(task, worth, **wish):
    run = worked(approved(make_script(), task, **wish))
    say(run, worth)
    return run


def say(run, worth):
    calls = list(run.calls.select_related("instance"))
    for call in calls:
        call.values = {"overall": float(worth(call))}
    run.calls.bulk_update(calls, ["values"])


def holds(licence):
    return {one.name: one.holds for one in licence}


def test_noise_long_texts_and_drift_are_told(rated, client):
    good = run_of(rated, lambda call: rated.worth[call.submission_id, call.instance_id])
    likes_long = run_of(
        rated,
        lambda call: 1 - rated.worth[call.submission_id, call.instance_id],
        occasion="again",
    )
    found = validation_of(likes_long, "overall")
    assert holds(found)["agreement"] is False
    assert drift_between(good, likes_long, "overall").holds is False
    licensing.look(good.pk)
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:leaderboard_judgerun_change", args=[good.pk]))
    assert (
        "overall: NOT LICENSED (people: their ratings of the same outputs, of 4 people; "
        "alternative annotator test: winning rate 1.00 of 4" in html.unescape(page.text)
    )
