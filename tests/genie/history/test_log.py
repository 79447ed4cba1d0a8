"""The public log: written with what it records, numbered, proved, opened, forgotten."""

import json
from threading import Barrier, Thread

import pytest
from django.db import IntegrityError, connections, transaction

from genie.history import log, merkle
from genie.history.canonical import commitment
from genie.history.models import LogEntry, LogHead
from genie.history.shown import open_entries
from genie.upkeep.doctor import examine

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]
Kind = log.Kind


def write(n, start=0):
    said = [(i, {"release": i}) for i in range(start, start + n)]
    log.append_all(Kind.RELEASE, said)


def finding():
    return dict(examine(slow=True))["public log"]


def test_entries_are_numbered_and_every_head_is_proved():
    assert log.head().root == merkle.root(lambda *_: b"", 0).hex()
    for n in (1, 2, 4, 0, 6):
        write(n)
        assert log.number() == n
    assert list(LogHead.objects.values_list("size", flat=True)) == [13, 7, 3, 1, 0]
    entries = list(LogEntry.objects.order_by("number"))
    assert [one.number for one in entries] == list(range(13))
    newest = log.head()
    for earlier in LogHead.objects.all():
        path = [bytes.fromhex(h) for h in log.consistency(earlier.size, newest.size)]
        assert merkle.continues(
            earlier.size, bytes.fromhex(earlier.root), newest.size,
            bytes.fromhex(newest.root), path,
        )  # fmt: skip
        root = bytes.fromhex(earlier.root)
        proofs = log.inclusion(range(earlier.size), earlier.size)
        for entry, proof in zip(entries, proofs, strict=False):
            leaf = merkle.leaf_hash(entry.body)
            path = [bytes.fromhex(h) for h in proof]
            assert merkle.includes(leaf, entry.number, earlier.size, path, root)
    assert finding().verdict == "ok"


def test_an_entry_is_there_if_and_only_if_what_it_records_is():
    with pytest.raises(RuntimeError), transaction.atomic():
        write(1)
        raise RuntimeError
    assert log.number() == 0
    assert not LogEntry.objects.exists()


def test_an_entry_like_the_last_about_its_row_can_be_left_out():
    for kind, pk in ((Kind.BAN, 7), (Kind.BAN, 8), (Kind.BAN, 7), (Kind.DECISION, 7)):
        log.append(kind, {"row": pk}, about=pk, repeat=False)
    assert LogEntry.objects.count() == 3


def test_many_are_numbered_in_parts(monkeypatch):
    monkeypatch.setattr(log, "_AT_ONCE", 4)
    write(11)
    assert log.number() == 11
    assert sorted(LogHead.objects.values_list("size", flat=True)) == [0, 4, 8, 11]
    assert finding().verdict == "ok"


def test_what_was_sealed_says_nothing_and_what_is_open_can_be_checked():
    log.append(Kind.BUDGET, {"is": "limit", "cents": 500})
    log.append(Kind.RELEASE, {"release": 3}, about=3)
    log.number()
    sealed, shown = open_entries(list(LogEntry.objects.order_by("number")))
    assert (sealed["salt"], sealed["data"], sealed["says"]) == (None, None, None)
    assert set(json.loads(sealed["body"])) == {"at", "commitment", "kind"}
    assert shown["says"] == {"release": 3}
    made = commitment(bytes.fromhex(shown["salt"]), shown["data"].encode())
    assert json.loads(shown["body"])["commitment"] == made


def test_data_of_people_can_be_deleted_and_the_tree_still_holds():
    log.append(Kind.BAN, {"worker": "a name", "is": "excluded"}, about=7)
    log.number()
    before = log.head().root
    log.append(Kind.BAN, {"worker": "another", "is": "excluded"}, about=8)
    log.append(Kind.DECISION, {"submission": 7}, about=7)
    assert log.forget([7]) == 1
    entry = LogEntry.objects.get(data="")
    assert (entry.data, entry.salt, entry.about) == ("", "", None)
    assert open_entries([entry])[0]["says"] is None
    assert (finding().verdict, log.head().root) == ("ok", before)


@pytest.mark.parametrize("kind", sorted({*Kind.values} - {Kind.BAN}))
@pytest.mark.parametrize(
    "empty", [{"salt": ""}, {"data": ""}, {"salt": "", "data": ""}]
)
def test_only_a_person_s_entry_can_be_emptied(kind, empty):
    log.append(kind, {"row": 7}, about=7)
    assert log.forget([7]) == 0
    with pytest.raises(IntegrityError), transaction.atomic():
        LogEntry.objects.update(**empty)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows.filter(number=2).update(kind=Kind.BAN), "entry 2 was changed"),
        (lambda rows: rows.filter(number=2).update(data='{"release":9}'), "entry 2 was changed"),
        (lambda rows: rows.filter(number=2).update(hashes=bytes(32)), "entry 2 was changed"),
        (lambda rows: rows.filter(number=2).update(kind=Kind.BAN, salt="", data=""), "entry 2 was changed"),
        (lambda rows: rows.filter(number=1).delete(), "entry 1 is missing"),
        (lambda rows: rows.filter(number=4).delete(), "entry 4 is missing"),
        (lambda _: LogHead.objects.filter(size=5).update(root="00" * 32), "the head does not match its 5 entries"),
    ],
)  # fmt: skip
def test_the_doctor_finds_what_somebody_has_changed(change, says):
    write(5)
    log.number()
    change(LogEntry.objects)
    assert finding().verdict == "problem"
    assert finding().sentence == f"the public log is damaged: {says}"


@pytest.mark.django_db(transaction=True)
def test_at_the_same_moment_nothing_is_lost_or_numbered_twice():
    ready = Barrier(4)

    def work(who):
        ready.wait()
        for i in range(3):
            write(2, start=100 * who + 10 * i)
            log.number()
        connections.close_all()

    threads = [Thread(target=work, args=[who]) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert LogEntry.objects.filter(number=None).count() == 0
    assert log.head().size == LogEntry.objects.count() == 24
    assert log.first_difference() == ""


def test_proofs_ask_for_a_few_rows_however_long_the_log_is(django_assert_num_queries):
    write(300)
    log.number()
    with django_assert_num_queries(1):
        log.inclusion([0, 150, 299], 300)
    with django_assert_num_queries(1):
        log.consistency(123, 300)
