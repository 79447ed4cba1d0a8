"""Names that differ only in case, spaces or quotation marks are asked about."""

import pytest
from django.contrib.auth.models import User

from genie.lib.errors import GenieError
from leaderboard.imports.readers.read import read
from leaderboard.imports.selectors import About
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.imports.services.plan import preview_import
from tests.factories import make_user
from tests.leaderboard.imports.examples import file_of
from tests.refusals import refusal

HEAD = "system,instance,worker,criterion,value\n"


def lines(names, first=0):
    return "".join(
        f"{name},q{n + first},{worker},{criterion},{n % 5 + 1}\n"
        for n, (name, worker, criterion) in enumerate(names)
    )


def begun(names, choices=None, first=0, head=HEAD):
    files = [file_of("ratings.csv", (head + lines(names, first)).encode())]
    judgments = read(files, choices={"rating": "value", "ranks": names[0][2]})
    about = About(choices=choices or {})
    shown, asked = preview_import(judgments, slug="x", about=about, files=files)
    return judgments, shown, asked, {"slug": "x", "about": about, "files": files}


def systems_of(row):
    return sorted(row.task.submissions.values_list("system_name", flat=True))


def store(judgments, task):
    by = User.objects.filter(username="importer").first() or make_user("importer")
    return bring_in(judgments, by=by, **task)


PAIRS = [
    ("sysA", "SysA"),
    ("sysA", "sysA "),
    ("sysA", "sys A"),
    ("sysA", "“sysA”"),
    ("UEdin.4", '"""UEdin.4"""'),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_nothing_is_joined_or_split_before_it_is_answered(one, other):
    names = [(name, f"w{n}", "c") for n in range(6) for name in (one, other, "bob")]
    judgments, shown, asked, task = begun(names)
    assert [choice.name for choice in asked] == ["same_systems"]
    assert "--choose same_systems=yes" in shown.refused[0]
    assert repr(one) in shown.refused[0]
    with refusal("not-settled"):
        store(judgments, task)
    for answer, n in (("no", 3), ("yes", 2)):
        _, shown, _, _ = begun(names, {"same_systems": answer})
        assert (shown.n_systems, shown.refused) == (n, ())


@pytest.mark.parametrize(
    ("answer", "systems"), [("no", ["SysA", "sysA"]), ("yes", ["sysA"])]
)
def test_names_are_two_systems_or_one_as_answered(answer, systems):
    names = [(name, f"w{n}", "c") for n in range(6) for name in ("sysA", "SysA")]
    judgments, _, _, task = begun(names, {"same_systems": answer})
    assert systems_of(store(judgments, task)) == systems


def test_raters_and_criteria_are_asked_about_too():
    names = [
        (s, w, c) for s in ("a", "b") for w in ("W1", "w1") for c in ("Flu", "flu")
    ]
    _, shown, asked, _ = begun(names)
    assert [one.name for one in asked] == ["same_raters", "same_criteria"]
    assert len(shown.refused) == 3
    # nobody's name is kept with a question
    assert "W1" not in asked[0].question
    same = {"same_raters": "yes", "same_criteria": "yes"}
    _, shown, _, _ = begun(names, same)
    assert (shown.n_workers, len(shown.scales)) == (1, 1)


@pytest.mark.every_engine
def test_what_one_rater_said_twice_counts_once_after_joining():
    said = [("a", "Eva", "c"), ("b", "Eva", "c")] * 3
    files = (HEAD + lines(said) + lines([("a", "eva", "c")])).encode()
    source = file_of("ratings.csv", files)
    judgments = read([source], choices={"rating": "value"})
    about = About(choices={"same_raters": "yes"})
    shown, _ = preview_import(judgments, slug="x", about=about, files=[source])
    assert shown.roles == {"judgment": 6, "superseded": 1}


def test_a_later_wave_is_asked_about_the_names_of_the_first():
    first = [(name, f"w{n}", "c") for n in range(6) for name in ("sysA", "bob")]
    store(*begun(first)[::3])
    again = [(name, f"w{n}", "c") for n in range(6) for name in ("SYSA", "bob")]
    judgments, _, asked, task = begun(again, first=50)
    assert "'sysA' and 'SYSA'" in asked[0].question
    with pytest.raises(GenieError, match="same_systems"):
        store(judgments, task)
    judgments, _, _, task = begun(again, {"same_systems": "yes"}, first=50)
    row = store(judgments, task)
    assert systems_of(row) == ["bob", "sysA"]
    # the same names once more need no answer
    assert begun(first, first=90)[2] == ()
