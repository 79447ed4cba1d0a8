"""Cases of a test in one world: it is made once, and each case is undone."""

import inspect
from functools import wraps

import pytest
from django.core.cache import caches
from django.db import transaction


def each(names, cases, ids=()):
    """Run a test for each case, as `pytest.mark.parametrize` would, with the same rows.

    What a case changes in the database is undone after it; a test whose cases change
    anything else, or that asks for fixtures as it runs, is left to `parametrize`.
    """
    names = names.split(", ") if isinstance(names, str) else names

    def for_each(test):
        @wraps(test)
        def run(**fixtures):
            for case in cases:
                values = case if len(names) > 1 else (case,)
                for name in ("default", "shared", "computed"):
                    caches[name].clear()
                try:
                    with transaction.atomic():
                        test(**fixtures, **dict(zip(names, values, strict=True)))
                        transaction.set_rollback(True)
                except BaseException as error:
                    error.add_note(f"in the case of {case!r}")
                    raise

        whole = inspect.signature(test)
        left = [one for name, one in whole.parameters.items() if name not in names]
        run.cases = cases
        run.__signature__ = whole.replace(parameters=left)
        return run

    return for_each


def with_slow(cases, slow):
    """Return the cases for `parametrize`; `make test` leaves out those in `slow`."""
    seldom = pytest.mark.slow
    return [pytest.param(one, marks=seldom) if one in slow else one for one in cases]
