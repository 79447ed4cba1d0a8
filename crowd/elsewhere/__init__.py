"""Work on other platforms: offered campaigns, messages sent, and results received.

`services.sync` is one look at such a campaign: it sends the state of our rows and
stores the platform's. Each outward call is a row before it is sent, so a crash repeats
and loses no call. Adapters in `crowd.platforms` implement the protocols and know
neither Django nor the database.

Front door: models; pages; services (accounts, attested, hit_offer, notices,
subscriptions, sync, visits).
"""
