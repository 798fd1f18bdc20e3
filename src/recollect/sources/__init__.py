"""Where the bytes of transcripts come from, and whether they are still the same bytes.

Knows files and their states; refuses to know what a line or a record is.
"""
