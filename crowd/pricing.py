"""The cost of a campaign, to the cent, before money is spent.

Amounts are whole cents, and fees are rounded up, so a quote is never below the
spending.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from genie.lib.errors import GenieError

MANY_ASSIGNMENTS = 10
FREE = ("selfhosted", "panel")
PROLIFIC_THOUSANDTHS = 428
SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class QuoteLine:
    label: str
    n: int
    unit_cents: int
    cents: int


@dataclass(frozen=True)
class Quote:
    """The maximal cost of a campaign; its parts add up to the total.

    The fee includes test questions and re-posting, `repost_cents` are the rewards for
    work expected to go out again, `reserve_cents` are approved in addition to the
    planned work, including fees. `lines` are the same amounts for staff.
    """

    reward_cents: int
    fee_cents: int
    test_question_cents: int
    repost_cents: int
    total_cents: int
    n_assignments: int
    lines: tuple[QuoteLine, ...]
    anchor_cents: int = 0
    twice_cents: int = 0
    reserve_cents: int = 0

    def with_reserve(self, label: str, n: int, unit_cents: int) -> Quote:
        """Add an amount that may become due n times in addition to the planned work."""
        line = _line(label, n, unit_cents)
        return replace(
            self,
            reserve_cents=self.reserve_cents + line.cents,
            total_cents=self.total_cents + line.cents,
            lines=(*self.lines, line),
        )

    def times(self, n: int) -> Quote:
        return Quote(
            reward_cents=n * self.reward_cents,
            fee_cents=n * self.fee_cents,
            test_question_cents=n * self.test_question_cents,
            repost_cents=n * self.repost_cents,
            total_cents=n * self.total_cents,
            n_assignments=n * self.n_assignments,
            anchor_cents=n * self.anchor_cents,
            twice_cents=n * self.twice_cents,
            reserve_cents=n * self.reserve_cents,
            # Line by line, because the lines of a quote add up to its total.
            lines=tuple(
                replace(line, n=n * line.n, cents=n * line.cents) for line in self.lines
            ),
        )


def fee_per_assignment(
    platform: str, reward_cents: int, *, max_assignments: int = 1, masters: bool = False
) -> int:
    """Compute the platform's fee for one assignment, in cents.

    Parameters
    ----------
    platform : str
        ``"selfhosted"`` is free. ``"mturk"`` takes 20% of the reward, at least one
        cent, another 20% if a HIT has ten assignments or more, and 5% for Masters; the
        sum is rounded up to a whole cent. ``"prolific"`` takes 42.8% of the reward, its
        highest published rate before tax; its calculator gives the real fee when a
        study is published. ``"panel"``: the panel is paid outside this site.
    max_assignments : int, optional
        How many people do the same HIT, >= 1.
    masters : bool, optional
        Only workers with the Masters qualification.

    Raises
    ------
    GenieError
        ``unknown-platform`` for a platform whose prices are not known.
    """
    _check_at_least("reward_cents", reward_cents, 0)
    _check_at_least("max_assignments", max_assignments, 1)
    if platform in FREE:
        return 0
    if platform == "prolific":
        # Negated twice, a division of integers rounds up; floats would sometimes be a
        # cent off.
        return -(-PROLIFIC_THOUSANDTHS * reward_cents // 1000)
    if platform != "mturk":
        raise GenieError(
            f"The fees of the platform {platform!r} are not known.",
            code="unknown-platform",
        )
    hundredths = max(100, 20 * reward_cents)
    if max_assignments >= MANY_ASSIGNMENTS:
        hundredths += 20 * reward_cents
    if masters:
        hundredths += 5 * reward_cents
    return -(-hundredths // 100)


def quote(
    *,
    platform: str,
    reward_cents: int,
    n_items: int,
    n_test_questions: int,
    n_anchor_items: int = 0,
    n_twice: int = 0,
    ratings_per_item: int = 1,
    repost_share: Decimal | float = 0,
    max_assignments: int = 1,
    masters: bool = False,
) -> Quote:
    """Return the price of a campaign.

    Parameters
    ----------
    platform, masters, max_assignments
        As in `fee_per_assignment`; only the fee depends on them.
    n_items : int
        Items to rate, one per HIT, >= 0.
    n_test_questions, n_anchor_items : int
        Hidden items with known answers, and outputs of a system with a settled score,
        >= 0; paid like the other items.
    n_twice : int, optional
        Items of all kinds that one more person answers, >= 0.
    ratings_per_item : int, optional
        How many people answer each item, including test questions and anchors, >= 1.
    repost_share : Decimal or float, optional
        Share of the assignments that are expected to go out again, in [0, 1]; rounded
        up to whole assignments.
    """
    _check_at_least("n_items", n_items, 0)
    _check_at_least("n_test_questions", n_test_questions, 0)
    _check_at_least("n_anchor_items", n_anchor_items, 0)
    _check_at_least("n_twice", n_twice, 0)
    _check_at_least("ratings_per_item", ratings_per_item, 1)
    # Via its text: the float 0.1 is a little more than a tenth, and rounding up would
    # add an assignment.
    share = Decimal(str(repost_share))
    if not 0 <= share <= 1:
        raise ValueError(f"repost_share must be between 0 and 1, not {repost_share}.")
    fee = fee_per_assignment(
        platform, reward_cents, max_assignments=max_assignments, masters=masters
    )
    n_judged = n_items * ratings_per_item
    n_tests = n_test_questions * ratings_per_item
    n_anchors = n_anchor_items * ratings_per_item
    n_first = n_judged + n_tests + n_anchors + n_twice
    n_again = int((n_first * share).to_integral_value(rounding=ROUND_CEILING))
    n_all = n_first + n_again
    judged = _line("Items", n_judged, reward_cents)
    tests = _line("Test questions", n_tests, reward_cents)
    anchors = _line("Anchor items", n_anchors, reward_cents)
    twice = _line("Second answers to items rated twice", n_twice, reward_cents)
    again = _line("Expected re-posting", n_again, reward_cents)
    fees = _line("Platform fee", n_all, fee)
    extra = [line for line in (anchors, twice) if line.n]
    lines = (judged, tests, *extra, again, fees)
    return Quote(
        reward_cents=judged.cents,
        test_question_cents=tests.cents,
        repost_cents=again.cents,
        fee_cents=fees.cents,
        total_cents=sum(line.cents for line in lines),
        n_assignments=n_all,
        lines=lines,
        anchor_cents=anchors.cents,
        twice_cents=twice.cents,
    )


def quote_from_total(
    *, reward_cents: int, n_items: int, n_test_questions: int, total_cents: int
) -> Quote:
    """Split the total of a platform's own calculator into its parts.

    Items count as often as they are rated. The total includes fee and tax; everything
    beyond the rewards is the fee.

    Raises
    ------
    ValueError
        If the total does not cover the rewards.

    Examples
    --------
    >>> bill = quote_from_total(reward_cents=40, n_items=10, n_test_questions=1,
    ...                         total_cents=600)
    >>> bill.fee_cents, bill.n_assignments
    (160, 11)
    """
    lines = (
        _line("Items", n_items, reward_cents),
        _line("Test questions", n_test_questions, reward_cents),
    )
    rewards = sum(line.cents for line in lines)
    if total_cents < rewards:
        raise ValueError(f"A total of {total_cents} does not pay {rewards} in rewards.")
    fee = total_cents - rewards
    n_all = n_items + n_test_questions
    share = QuoteLine("Platform fee", n_all, fee // n_all if n_all else 0, fee)
    return Quote(
        reward_cents=lines[0].cents,
        test_question_cents=lines[1].cents,
        repost_cents=0,
        fee_cents=fee,
        total_cents=total_cents,
        n_assignments=n_all,
        lines=(*lines, share),
    )


def share_of(cents: int, n: int, place: int) -> int:
    """Split cents into n parts that add up to them; the first parts get the remainder.

    Examples
    --------
    >>> [share_of(10, 3, place) for place in range(3)]
    [4, 3, 3]
    """
    return cents // n + (place < cents % n)


def hourly_cents(reward_cents: int, median_seconds: float | None) -> int | None:
    """Return the hourly pay at the median pace, rounded down; None without a pace."""
    if median_seconds is None or not median_seconds > 0:
        return None
    return int(reward_cents * SECONDS_PER_HOUR / median_seconds)


def missing_cents(
    reward_cents: int, median_seconds: float | None, floor_cents: int
) -> int:
    """Return the cents missing for fair pay of an hour at the median pace.

    Whole cents, rounded up; 0 if nothing is missing or the median active time is
    unknown (None or 0). `floor_cents` is the minimal pay of an hour.
    """
    if median_seconds is None or not median_seconds > 0:
        return 0
    fair = math.ceil(floor_cents * median_seconds / SECONDS_PER_HOUR)
    return max(0, fair - reward_cents)


def pay_problem(
    reward_cents: int, seconds: float, floor_cents: int, *, volunteers: bool = False
) -> str:
    """Return why a reward may not be offered and what to pay instead; empty if it may.

    Volunteers, who come by a link or an invitation, may work unpaid, but not for less.

    Examples
    --------
    >>> pay_problem(4, 12, 1500)
    'pays $0.04 for 12 seconds, $12.00 an hour; the minimum is $15.00 an hour, so pay at least $0.05 (5 cents).'
    >>> pay_problem(5, 12, 1500), pay_problem(0, 12, 1500, volunteers=True)
    ('', '')
    """
    missing = missing_cents(reward_cents, seconds, floor_cents)
    unpaid = reward_cents == 0
    if not missing or (unpaid and volunteers):
        return ""
    fair = reward_cents + missing
    pays = (
        "is not paid, and only volunteers who come by a link or an invitation can "
        "work unpaid"
        if unpaid
        else f"pays {dollars(reward_cents)} for {seconds:.0f} seconds, "
        f"{dollars(hourly_cents(reward_cents, seconds) or 0)} an hour"
    )
    return (
        f"{pays}; the minimum is {dollars(floor_cents)} an hour, so pay at least "
        f"{dollars(fair)} ({fair} cents)."
    )


def dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def _line(label: str, n: int, unit_cents: int) -> QuoteLine:
    return QuoteLine(label, n, unit_cents, n * unit_cents)


def _check_at_least(name: str, value: int, minimum: int) -> None:
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {value}.")
