"""Every version of every file that Claude Code changed, and which prompt wrote each line.

Versions are rebuilt from transcripts and file-history backups, by pure functions over immutable
data. Each version has a `Grade` that tells how certain its content is, so a guess never looks like
a fact. Only `file_restore` writes files, and only the requested ones.
"""
