"""Sessions by path, id or title, and lists of them: reader, session and locations joined.

Knows which files make up a session and what a list shows of it; refuses a database and an event
loop, so every answer is read from the files at the moment it is asked for. Names are imported from
their modules: what finds a session should not cost the time to load what reads one.
"""
