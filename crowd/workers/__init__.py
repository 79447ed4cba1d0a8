"""Workers: invitations, consent, requirements, qualification tests, available work.

`selectors.eligible` decides which work a worker may get next, for lists and for claims,
at a cost that does not depend on the number of open HITs. Workers' ids never leave the
system: outside they have pseudonyms. Exclusion from a pool is decided in `quality` and
applied here.

Front door: models; choices; hit_form; selectors (eligible, profiles, requirements,
test_wording); services (exclusions, invitations, known_answers, qualification_tests,
requirements, test_attempts).
"""
