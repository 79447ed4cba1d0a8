"""What keeps a site alive for years: backups, restoring them, its doctor.

`backup` and `restore` move a whole site through one file (`archive`). `doctor` asks a list
of examinations, to which upper apps add their own; the command `doctor`, the page for staff
and the e-mails about trouble all show what it found.
"""
