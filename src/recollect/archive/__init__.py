"""Copies of sessions that stay when Claude Code deletes the originals.

Knows files and bytes: copies them, checks them and gives them back unchanged. Refuses to know what
a record means, and never writes below a Claude directory unless a restore names that directory.
The format is described in docs/archive.md, so that a copy can be read without this program.
"""
