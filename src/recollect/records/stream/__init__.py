"""The stream-json messages that `claude -p --output-format stream-json` prints, as data.

A union of their own, and the way from them to the records that a transcript has: one model and
one renderer serve what was written and what is being said right now.
"""
