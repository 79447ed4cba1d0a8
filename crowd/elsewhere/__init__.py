"""Work on other platforms: campaigns offered there, what is told to them, what comes back.

`services.sync` is one look at a campaign elsewhere: tell the platform what our rows say,
take in what it has. Each outward call is a row before it is sent, so a crash repeats
nothing and forgets nothing. Adapters in `crowd.platforms` speak the protocols and know
neither Django nor the database.

Front door: models; pages (access, visit); services (accounts, attested, hit_page,
notices, subscriptions, sync, visits).
"""
