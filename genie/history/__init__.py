"""The public log: scores, decisions, exclusions, payments and releases, permanently.

Services write a sealed entry in the transaction of the event (`log.append`): the log
shows a salted hash of its data, so that it holds no private data and people's data can
be deleted. A job numbers the entries every minute, as leaves of a Merkle tree (RFC
9162), and writes a head. Readers who kept an earlier head can detect any change.

`canonical` and `merkle` are pure: readers of a release use them without a database.

Front door: admin; canonical; log; merkle; models; shown.
"""
