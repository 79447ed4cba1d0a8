"""Running campaigns: hand HITs out, take answers in, review, reassign, watch, end.

Taking a HIT is one short transaction that locks as little as possible: first candidates
are looked up outside of it, then one is claimed. Whoever changes several rows locks them
in one order: submission, worker, campaign, budget, commitment. What has to be told to
another platform is first written down in `services.outbox`.

Front door: models; selectors (document_context, offers, reading_pace, rejection_reversal, starved,
work_records); services (claim, news, outbox, overturn, pages, preference, reissue,
reopen, reservations, review, run, shares, staff_notices, undo, work, work_records).
"""
