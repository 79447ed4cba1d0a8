"""The site around the boards: front page, about pages, the API's addresses.

It decides nothing of the domain: these modules combine what the wings below offer, so
this wing may import all of them.

Front door: models; docs (contents, urls); roles; views.
"""
