"""What there is to show of a session, before anyone decides how it looks.

One description serves the terminal and the web page, so that each tool is handled in one place.
Nothing here is escaped: every string is as untrusted as its transcript, and the renderer makes it
safe for its destination.
"""
