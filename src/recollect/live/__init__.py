"""Following transcripts that grow: which files, what is new in them, and how their sessions stand.

Knows how to be told of changes and how to be sure of them; refuses to know its audience: whoever
listens gets values, and nothing here prints, renders or serves.
"""
