"""The web app: pages and a JSON API over the same core, for one user on one machine.

Contains only HTTP handling; logic that the command line also needs is in lower layers. Nothing here
writes below a Claude directory, and no transcript text is sent unescaped.
"""
