"""Money: budgets, commitments, the ledger of payments, bonuses, fair pay, payouts.

No money is committed without a person's approval, no budget can be exceeded, and every
payment is planned once under a key made from its purpose. `crowd.pricing` computes
costs; this wing checks whether they may be spent and records what was.

Front door: models; admin (fair_pay, payouts); selectors (earned_by_day, earnings,
fair_pay, payouts, rates, requester_earnings); services (bonuses, budgets,
last_payments, payment_details, payments, payouts).
"""
