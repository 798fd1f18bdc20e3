"""The views of a session: what to show, independent of how it is rendered.

Terminal and web page share them, so that each tool is handled in one place. Nothing here is
escaped: every string is as untrusted as its transcript, and the renderer makes it safe for its
destination.
"""
