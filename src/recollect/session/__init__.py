"""Build a session from records: messages, turns, tool calls, branches, segments, subagents,
figures.

Independent of files: it takes records, so a live stream, a test literal and a transcript use the
same code.
"""
