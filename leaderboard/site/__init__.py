"""The site around the boards: front page, about pages, the API's addresses and description.

Nothing of the domain is decided here: these modules put together what the wings below
offer, so this wing may import all of them.

Front door: docs (contents, urls); models; roles; views (language, pages, public_log, public_urls).
"""
