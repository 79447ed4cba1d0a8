"""From people's files to a running evaluation: looked at, drafted, loaded, submitted, started.

Pages (`/studio/`) and the command `new` call the same services. `keep` holds drafts,
which are the pages' own, until they are loaded or forgotten. `look` says what files seem to hold
and all that is wrong with them, and keeps nothing; `make` loads the task and submits each
system as anybody would; `start` approves what was priced, and only that. `rehearse` draws the
test questions of a draft and undoes it, `pilot` has a few people judge a few pages outside of
any task, `bring` has judgments made elsewhere
read, looked at and imported, `own_test` reads qualification tests in plain text, and `edit`
changes what is loaded.

Front door: api (bundles, imports); models; services (bring, keep, look, make, preview, start); urls.
"""
