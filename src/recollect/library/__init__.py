"""Find, open and list sessions by path, id or title: reader, session and locations joined.

Knows which files make up a session and what a list shows of it. Uses no database and no event loop:
every answer is read from the files. Names are imported from their modules, so that finding a
session does not load what reads one.
"""
