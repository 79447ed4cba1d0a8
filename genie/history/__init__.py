"""The public log: what was scored, decided, excluded, paid for and released, for good.

Services write an entry in the transaction that does what it records (`log.append`), sealed:
the log shows a salted hash of its data, so that nothing private is in it and data of people
can be deleted. A job numbers the entries every minute, as leaves of a Merkle tree (RFC 9162),
and writes a head, which nobody who kept an earlier one can be deceived about.

`canonical` and `merkle` are pure: readers of a release check it without a database.

Front door: admin; canonical; log; merkle; models; shown.
"""
