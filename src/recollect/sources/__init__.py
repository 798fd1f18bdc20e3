"""Where the bytes of transcripts come from, and whether they are still the same bytes.

Knows files and their states, but not lines or records.
"""
