"""Find, open and list sessions by path, id or title: reader, session and locations joined.

Finds the files of a session and the values that a list shows of it. Uses no database and no event
loop: everything is read from the files. Names are imported from their modules, so that finding a
session does not load the code that reads it.
"""
