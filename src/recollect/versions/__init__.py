"""Every version of every file that Claude Code changed, and which prompt wrote each line.

Versions are rebuilt from what transcripts and file-history backups record, as pure functions over
immutable data. How well a version is known is part of it (`Grade`): a guess never looks like a
fact. Only `file_restore` writes, and only the requested files.
"""
