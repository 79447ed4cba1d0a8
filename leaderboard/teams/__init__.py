"""Teams and people's accounts: members, invitations, notices, webhooks, their own data.

Quotas count per team. What happened to a submission is announced from its events: each
is marked once, and the e-mails and deliveries that follow are written in the same
transaction. Leaving deletes the name and keeps what science rests on.

Front door: models; api (teams, webhooks, whoami); selectors (site_urls); services
(announce, notices, webhooks); views (account_urls).
"""
