"""From files to a running evaluation: read, drafted, loaded, submitted, started.

Pages (`/studio/`) and the command `new` call the same services. `keep` holds drafts
until they are loaded or deleted. `look` proposes what files contain, lists all
problems, and stores no data. `make` loads the task and submits each system like any
submitter. `start` approves exactly the priced work. `rehearse` draws the test questions
of a draft and undoes it. `pilot` has a few people rate a few pages outside of any task.
`bring` reads, previews and imports ratings. `own_test` parses qualification tests in
plain text, and `edit` changes loaded tasks.

Front door: models; api; services (bring, keep, look, make, preview, start); urls.
"""
