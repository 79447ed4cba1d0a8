"""Workers: invitations, consent, requirements, qualification tests, available work.

`selectors.eligible` decides which work a worker may get next, for lists and for claims,
at a cost that does not depend on the number of open HITs. Workers' ids never leave the
system: outside they have pseudonyms. Exclusion from a pool is decided in `quality` and
applied here.

Front door: models; choices; hit_form; hit_preview; selectors (consent, eligible,
platform_requirements, profiles, qualifications, requirements, shares, test_wording);
services (consent, exclusions, invitations, known_answers, profiles,
qualification_tests, requirements, test_attempts, test_marks).
"""
