"""Money: budgets, commitments, the ledger of payments, bonuses, fair pay, payouts.

No money is committed without a person's approval, no budget can be exceeded, and every
payment is planned once under a key made from its purpose. `crowd.pricing` computes
costs; this wing checks whether they may be spent and records what was.

Front door: models; admin; selectors (earnings, fair_pay, payouts, rates); services
(bonuses, budgets, payments, payouts).
"""
