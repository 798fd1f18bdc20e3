"""Records → meaning: messages, turns, tool calls, branches, segments, subagents and figures.

Knows nothing of files: it takes records, so that a live stream, a test literal and a transcript
feed the same code.
"""
