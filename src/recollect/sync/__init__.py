"""Brings the index level with the files."""
