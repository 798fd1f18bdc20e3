"""Sources of transcripts, and checks for changed files.

Knows files and their states, but not lines or records.
"""
