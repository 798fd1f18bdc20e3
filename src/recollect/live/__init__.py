"""Follow transcripts as they grow: which files, what was appended, and each session's status.

Yields plain values; nothing here prints, renders or serves.
"""
