"""The account of somebody who has posted by program for years."""

from datetime import timedelta
from typing import Any

from benchmarks.years.bulk import fill
from benchmarks.years.size import Size, after


def make_account(size: Size, now: Any) -> None:
    """Write the account of somebody who has posted by program for years."""
    from crowd import models as crowd

    n = size.posted
    at, ends = now - timedelta(days=30), now + timedelta(days=30)
    deposit = 100 * n + 10**6
    n_approved = sum(pk % 4 in (1, 2) for pk in range(1, n + 1))
    requester = crowd.Requester.objects.create(
        pk=1,
        name="Rita",
        balance_cents=deposit - 48 * n_approved,
        held_cents=48 * (n - n_approved),
    )
    crowd.RequesterHITType.objects.create(
        pk=1,
        requester=requester,
        fingerprint="years",
        title="Say how it reads",
        description="Read it.",
        reward_cents=40,
        assignment_seconds=600,
        auto_approval_seconds=10**7,
    )
    n_names = min(100, size.crowd)
    names = after(0, n_names)
    fill(
        crowd.WorkerAlias,
        n_names,
        requester_id=1,
        worker_id=names,
        customer_id=[f"A{pk:013d}" for pk in names],
    )
    hits = after(0, n)
    # of four, two are approved, one is to be reviewed, one is still to be done
    fill(
        crowd.RequesterHIT,
        n,
        requester_id=1,
        hit_type_id=1,
        entity_id=[f"3H{pk:028d}" for pk in hits],
        question="<a question/>",
        max_assignments=1,
        reward_cents=40,
        fee_cents=8,
        created_at=at,
        expires_at=ends,
        touched_at=at,
        announced=[pk % 4 != 0 for pk in hits],
        held_cents=[0 if pk % 4 in (1, 2) else 48 for pk in hits],
        held_as_open=True,
    )
    done = [pk for pk in hits if pk % 4]
    approved = [pk for pk in done if pk % 4 != 3]
    fill(
        crowd.RequesterAssignment,
        len(done),
        hit_id=done,
        worker_id=[pk % n_names + 1 for pk in done],
        entity_id=[f"3A{pk:028d}" for pk in done],
        state=["Submitted" if pk % 4 == 3 else "Approved" for pk in done],
        accepted_at=at,
        deadline_at=at,
        submitted_at=at,
        auto_approval_at=ends,
        approved_at=[None if pk % 4 == 3 else at for pk in done],
        answer="<an answer/>",
    )
    kinds = [("REWARD", -40), ("FEE", -8)]
    fill(
        crowd.RequesterEntry,
        len(approved) * 2 + 1,
        requester_id=1,
        key=["deposit:1:0"] + [f"{kind}:{pk}" for kind, _ in kinds for pk in approved],
        kind=["DEPOSIT"] + [kind for kind, _ in kinds for _ in approved],
        amount_cents=[deposit] + [cents for _, cents in kinds for _ in approved],
        created_at=at,
    )
