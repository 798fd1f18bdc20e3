"""How well the files on disk are understood: what is in them, what is new, what is broken.

Imports nothing, so that a look at how long sessions are kept does not pay for reading them.
"""
