"""Tokens and money: reports of what counts, and the records behind any figure.

Knows groups, time zones and the 5-hour blocks; refuses to decide what counts, which is done when
the index is brought level, and to guess a price. Nothing here prints.
"""
