"""Pages with several HITs: each HIT is paid and reviewed separately.

The first assignment of a page represents it: code that adds to the page, submits it or
returns it changes or locks that row first, so these happen one after another.
"""

from collections.abc import Sequence

from django.db.models import Q
from django.utils.translation import gettext as _

from crowd.campaigns.selectors.reading_pace import n_words
from crowd.campaigns.services import claim
from crowd.campaigns.services.claim import first_of
from crowd.hit_templates.form import DOCUMENT, PART
from crowd.hits.models import HIT, Assignment
from crowd.hits.selectors import form_of, language_of, questions_about, worded
from crowd.hits.services.check_answers import Answers, Rating, checked
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError

Page = Sequence[Assignment]


def next_page(worker: Worker, pool: str | None = None) -> Page:
    """Return the open page, or hand one out; None if there is no work."""
    first = claim.next_assignment(worker, pool)
    if first is None:
        return []
    n = claim.per_page(first.hit.campaign)
    # Campaigns are known only if the page was handed out just now.
    if n > 1 and first.in_turns is not None:
        claim.fill(worker, first, n, _of_document(first))
    return page_of(first)


def page_of(assignment: Assignment) -> Page:
    first = first_of(assignment)
    form = form_of(first.hit.campaign.hit_type)
    # An old page may be shown after its campaign has changed.
    if form.items_per_page == 1 and assignment.page_id is None:
        return [first]
    rows = Assignment.objects.filter(Q(pk=first.pk) | Q(page=first.pk))
    page = list(
        rows.filter(worker=first.worker_id)
        .select_related("hit__campaign__hit_type")
        .prefetch_related("hit__items")
        .order_by("pk")
    )
    page[0].in_turns = first.in_turns
    return sorted(page, key=_place) if form.by_document else page


def checked_page(page: Page, answers: Sequence[Answers]) -> list[list[Rating]]:
    rated = []
    for number, (one, sent) in enumerate(zip(page, answers, strict=True), 1):
        try:
            rated.append(checked(one, sent))
        except GenieError as error:
            if len(page) == 1:
                raise
            raise _named(error, one, number, len(page)) from error
    return rated


def _named(error: GenieError, one: Assignment, number: int, n: int) -> GenieError:
    hit_type = worded(one.hit.campaign.hit_type, language_of(one))
    asked = [
        question.text
        for item in one.hit.items.all()
        for question in questions_about(hit_type, item.data)
        if question.key == error.details.get("criterion")
    ]
    sentence = (
        _("Item %(number)d of %(n)d: please answer “%(question)s”")
        if error.code == "answer-missing" and asked
        else _("Item %(number)d of %(n)d: %(problem)s")
    )
    said = {"problem": error.message, "question": asked[0] if asked else ""}
    return GenieError(
        sentence % {**said, "number": number, "n": n},
        code=error.code,
        details={**error.details, "number": number},
    )


def hold(page: Page) -> None:
    """Lock a page until the transaction ends, so that no HIT is added.

    Raises
    ------
    GenieError
        ``page-has-grown`` if more HITs are on it than were shown.
    """
    first = first_on(page)
    if first.hit.campaign.hit_type.form.get("items_per_page", 1) == 1:
        return
    rows = Assignment.objects.select_for_update(of=("self",)).order_by("pk")
    list(rows.filter(pk=first.pk).values_list("pk"))
    with_it = Assignment.objects.filter(page=first.pk).values_list("pk", flat=True)
    if {first.pk, *with_it} != {one.pk for one in page}:
        raise _grown()


def names(page: Page) -> str:
    """Return the ids of a page's HITs, which the page sends back with its answers."""
    return ",".join(str(one.pk) for one in page)


def refuse_other(page: Page, shown: str | None) -> None:
    """Refuse answers to a page to which HITs were added since.

    Answers are matched by position, so one could be taken for that of another item.
    """
    if shown is not None and shown != names(page):
        raise _grown()


def _grown() -> GenieError:
    return GenieError(
        _("More has been put on this page; reload it. Your answers are kept."),
        code="page-has-grown",
    )


def shares_of_time(page: Page) -> dict[int, float]:
    """Split a page's active time among its assignments by the length of their texts."""
    if len(page) == 1:
        return {page[0].pk: 1.0}
    words = {
        one.pk: 1 + sum(n_words(item.data) for item in one.hit.items.all())
        for one in page
    }
    return {pk: n / sum(words.values()) for pk, n in words.items()}


def first_on(page: Page) -> Assignment:
    return next(one for one in page if one.page_id is None)


def _of_document(first: Assignment) -> list[int] | None:
    hit = first.hit
    if not form_of(hit.campaign.hit_type).by_document:
        return None
    data = hit.items.values_list("data", flat=True).first() or {}
    document = data.get(DOCUMENT)
    if not document:
        return []
    alike = HIT.objects.filter(
        campaign=hit.campaign, **{f"items__data__{DOCUMENT}": document}
    )
    return list(alike.values_list("pk", flat=True))


def _place(assignment: Assignment) -> tuple[int, int]:
    parts = [item.data.get(PART, 0) for item in assignment.hit.items.all()]
    return min(parts, default=0), assignment.pk
