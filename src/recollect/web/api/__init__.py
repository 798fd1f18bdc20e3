"""The JSON API: one function per answer, from typed parameters to a typed document.

They know nothing of HTTP and run in threads. Names are those of the command line's JSON; only what
stands below `/api/history` is spelt the way other programs for these files spell it.
"""
