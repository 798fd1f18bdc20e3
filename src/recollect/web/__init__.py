"""The web app: pages and a JSON API over the same core, for one user on one machine.

Knows HTTP, and no logic that the command line would need too. Nothing here writes below a Claude
directory, and no transcript text is sent unescaped.
"""
