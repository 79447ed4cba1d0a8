"""Teams and people's accounts: members, invitations, notices, webhooks, their own data.

Quotas count per team. A submission is announced by its events: each is marked once, and
its e-mails and deliveries are stored in the same transaction. Deleting an account
deletes the name and keeps the scientific data.

Front door: models; api; selectors; services (announce, notices, webhooks); views.
"""
