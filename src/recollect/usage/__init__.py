"""Token and cost reports, and an explanation of any figure in them.

Knows groups, time zones and 5-hour blocks. What counts is decided by `recollect.sync` when the
index is updated, and a price is never guessed.
"""
