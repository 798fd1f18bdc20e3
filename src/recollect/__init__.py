"""Recollect finds, reads, searches, counts, follows and keeps every Claude Code session."""

__version__ = "0.1.0"
