"""Workers: invitations, consent, requirements, qualification tests, what they may do next.

`selectors.eligible` answers what a worker may be given next, however many HITs are open;
lists and claims both go by it. Workers' ids never leave the system: outside they have
pseudonyms. Exclusion from a pool is decided in `quality` and carried out here.

Front door: models; choices; hit_form; hit_preview; selectors (consent, eligible,
platform_requirements, profiles, qualifications, requirements, shares, test_wording,
worker_progress); services (consent, exclusions, invitations, known_answers, profiles,
qualification_tests, requirements, test_attempts, test_marks).
"""
