"""Benchmark tasks: inputs, references and the questions that people answer.

A task is a folder with a `task.toml` and the files of its official release. Loading it
stores the instances once, with a random order that is the same for every submission:
the first ones are those that people judge. `config` parses `task.toml` into
`TaskConfig`, checks all of it at once and holds every default. No other package reads
the raw table. People's files are read in `intake`, and tasks become bundles in
`drafts`; both are pure.

Front door: models; api; chosen_metrics; config; config (differences, human, task);
drafts (ask, bundle, documents, draft, languages); intake (guess, join, read, roles); license;
readers; readers (base); selectors; services (archives, bundles, configuration, inputs, load);
shipped.
"""
