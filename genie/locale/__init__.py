"""Genie in other languages: a catalogue each, and how English writes dates.

docs/translating.md says how one is added. `FORMAT_MODULE_PATH` leads here, too.
"""
