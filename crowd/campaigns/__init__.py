"""Running campaigns: hand out HITs, take in answers, review, reassign, watch and end.

Taking a HIT is one short transaction that locks as little as possible: candidates are
looked up outside it, then one is claimed. Code that changes several rows locks them in
this order: submission, worker, campaign, budget, commitment. Messages to another
platform are first stored in `services.outbox`.

Front door: admin (campaign); models; selectors (offers, reading_pace,
rejection_reversal, starved, work_records); services (change_reward, claim,
more_answers, news, outbox, overturn, reissue, review, run, undo, work, work_records).
"""
