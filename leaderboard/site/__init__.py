"""The site around the boards: front page, about pages, the API's addresses.

It decides nothing of the domain: these modules combine what the wings below offer, so
this wing may import all of them.

Front door: docs (contents, urls); models; roles; views (language, pages, public_log,
public_urls).
"""
