"""Sessions as Markdown that is clean on GitHub and for a model: no HTML, no remote images.

Text from a transcript cannot break out of its place: a fence that is never closed, a heading or a
comment in a reply does not change what follows it.
"""
