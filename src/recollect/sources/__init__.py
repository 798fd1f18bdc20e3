"""Sources of the bytes of transcripts, and checks whether they are still the same bytes.

Handles files and their states, but not lines or records.
"""
